import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { enterWorkspace } from "@/app/enterWorkspace";
import { fetchWithRetry } from "@/lib/api";
import { queries } from "@/lib/client";
import { session } from "@/lib/session";
import { workspace } from "@/lib/workspace";

const OWN = [{ id: "wsp_mine" }, { id: "wsp_team" }];
let sent: Request[];

beforeEach(() => {
  sent = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push(request);
    const isList = request.url.includes("/api/workspaces");
    const data = isList ? OWN : { id: "usr_1", defaultWorkspaceId: "wsp_team" };
    return Response.json({ success: true, data, pagination: { hasMore: false } });
  });
  session.start();
});

afterEach(() => {
  session.end();
  vi.unstubAllGlobals();
});

test("the first page opens in the default workspace, which is kept", async () => {
  await enterWorkspace(undefined);
  expect(workspace.id()).toBe("wsp_team");
  expect(localStorage.getItem("spanwise.workspace")).toBe("wsp_team");
  expect(enterWorkspace(undefined)).toBeUndefined();
});

test("a link leads into the workspace that it names", async () => {
  workspace.enter("wsp_mine");
  await enterWorkspace("wsp_team");
  expect(workspace.id()).toBe("wsp_team");
});

test("a foreign workspace is not entered", async () => {
  workspace.enter("wsp_mine");
  await enterWorkspace("wsp_foreign");
  expect(workspace.id()).toBe("wsp_mine");
});

test("requests name the workspace", async () => {
  workspace.enter("wsp_mine");
  await fetchWithRetry(new Request(`${location.origin}/api/agents`));
  expect(sent.at(-1)?.headers.get("X-Workspace-Id")).toBe("wsp_mine");
});

test("switching drops the data of the workspace, but not the person's", () => {
  workspace.enter("wsp_mine");
  queries.setQueryData(["agents"], []);
  queries.setQueryData(["profile"], { id: "usr_1" });
  workspace.enter("wsp_team");
  expect(queries.getQueryData(["agents"])).toBeUndefined();
  expect(queries.getQueryData(["profile"])).toBeDefined();
});

test("signing out forgets the workspace", () => {
  workspace.enter("wsp_mine");
  session.end();
  expect(workspace.id()).toBeNull();
});
