import { renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { usePermittedPages } from "@/app/pages";

const state = vi.hoisted(() => ({ role: "user" }));
vi.mock("@/lib/queries", () => ({ useProfile: () => ({ data: { role: state.role } }) }));

function findPaths() {
  return renderHook(usePermittedPages).result.current.map((page) => page.path);
}

test("only administrators are offered the administration", () => {
  expect(findPaths()).toContain("/traces");
  expect(findPaths()).not.toContain("/admin");
  state.role = "admin";
  expect(findPaths()).toContain("/admin");
});
