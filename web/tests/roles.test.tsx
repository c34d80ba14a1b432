import { cleanup, render, renderHook, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { Workspace } from "@/lib/api";
import { includesRole, useCan } from "@/lib/roles";
import { RoleButton } from "@/ui/RoleButton";
import { RoleMenu } from "@/ui/RoleMenu";

const state = vi.hoisted(() => ({ workspace: undefined as Workspace | undefined }));
vi.mock("@/lib/queries", () => ({ useWorkspace: () => state.workspace }));
afterEach(cleanup);

function enterAs(role: Workspace["role"] | undefined) {
  const named = { id: "wsp_1", name: "Acme", createdAt: "2026-11-17T09:00:00Z", members: 1 };
  const settings = {
    requireKeyExpiry: false,
    retentionDays: null,
    contentRetentionDays: null,
    masking: { mode: "off" as const },
  };
  state.workspace = role && { ...named, ...settings, role };
}

test("a role includes those before it", () => {
  expect(includesRole("owner", "viewer")).toBe(true);
  expect(includesRole("editor", "editor")).toBe(true);
  expect(includesRole("editor", "admin")).toBe(false);
});

test("nothing is allowed until the role is known", () => {
  enterAs(undefined);
  expect(renderHook(useCan).result.current("viewer")).toBe(false);
  enterAs("admin");
  expect(renderHook(useCan).result.current("editor")).toBe(true);
});

test("a button is disabled with the reason", () => {
  enterAs("viewer");
  render(<RoleButton needs="editor">Stop</RoleButton>);
  const button = screen.getByRole<HTMLButtonElement>("button", { name: "Stop" });
  expect(button.disabled).toBe(true);
  expect(button.title).toBe("Editors only");
});

test("a button works for a higher role", () => {
  enterAs("owner");
  render(<RoleButton needs="admin">Invite</RoleButton>);
  expect(screen.getByRole<HTMLButtonElement>("button").disabled).toBe(false);
});

test("a menu that the role does not allow is a disabled button with the reason", () => {
  enterAs("viewer");
  render(
    <RoleMenu needs="editor" ariaLabel="Add a silence" label="Silence">
      {null}
    </RoleMenu>,
  );
  const button = screen.getByRole<HTMLButtonElement>("button", { name: "Silence" });
  expect(button.disabled).toBe(true);
  expect(button.title).toBe("Editors only");
});
