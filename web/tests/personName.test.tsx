import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, it, vi } from "vitest";
import { usePersonName } from "@/lib/personName";

vi.mock("@/lib/queries", () => ({
  useProfile: () => ({ data: { id: "usr_me" } }),
  useMembers: () => ({ data: [{ userId: "usr_emil", name: "Emil Novak" }] }),
}));
vi.mock("@/lib/api", () => ({
  api: { GET: vi.fn() },
  unwrapPage: async () => ({ items: [{ id: "key_ci", name: "nightly" }] }),
}));

it("names members, keys and the service, and keeps an unknown id", async () => {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(usePersonName, { wrapper });
  await waitFor(() => expect(result.current("key_ci")).toBe("key “nightly”"));
  const ids = ["usr_me", "usr_emil", "spanwise", "usr_gone"];
  expect(ids.map((id) => result.current(id))).toEqual([
    "You",
    "Emil Novak",
    "Spanwise",
    "usr_gone",
  ]);
});
