import { expect, test } from "vitest";
import { toCsv } from "@/features/workspace/auditExport";
import { type AuditEntry, actorOf, auditIds, describeAction, WORKSPACE_ACTIONS } from "@/lib/audit";

const ENTRY: AuditEntry = {
  id: "aud_1",
  workspaceId: "wsp_1",
  at: "2026-11-17T09:03:12Z",
  action: "key.created",
  actor: "usr_mara",
  actorName: "Mara Lind",
  subject: "key_1",
  subjectName: "robot",
  address: "203.0.113.7",
  data: { name: "robot", scopes: ["ingest"] },
};

function sentence(changes: Partial<AuditEntry>): string {
  const entry = { ...ENTRY, subject: null, subjectName: null, data: {}, ...changes };
  return `${actorOf(entry)} ${describeAction(entry)}`;
}

test("an entry reads as a sentence with names instead of ids", () => {
  expect(`${actorOf(ENTRY)} ${describeAction(ENTRY)}`).toBe(
    "Mara Lind created the key “robot” (ingest)",
  );
  expect(auditIds(ENTRY)).toBe("key.created · by usr_mara · on key_1");
});

test("members, roles and settings", () => {
  const joel = { subject: "usr_joel", subjectName: "Joel Okafor" };
  expect(
    sentence({ action: "member.role_changed", ...joel, data: { from: "viewer", to: "owner" } }),
  ).toBe("Mara Lind made Joel Okafor an owner, was viewer");
  expect(
    sentence({ action: "member.invited", subject: "sam@example.com", data: { role: "editor" } }),
  ).toBe("Mara Lind invited sam@example.com as an editor");
  expect(sentence({ action: "member.joined", data: { role: "viewer" } })).toBe(
    "Mara Lind joined as a viewer",
  );
  expect(
    sentence({ action: "workspace.changed", data: { name: "Acme", require_key_expiry: true } }),
  ).toBe("Mara Lind renamed the workspace to “Acme” and made an expiry mandatory for new keys");
});

test("what is deleted keeps the name or address that was recorded", () => {
  expect(sentence({ action: "key.deleted", subject: "key_1", data: { name: "old laptop" } })).toBe(
    "Mara Lind deleted the key “old laptop”",
  );
  expect(
    sentence({ action: "member.removed", subject: "usr_x", data: { email: "x@example.com" } }),
  ).toBe("Mara Lind removed x@example.com");
  expect(sentence({ action: "login.succeeded", actorName: null })).toBe(
    "A deleted account signed in",
  );
});

test("a failed sign-in has no account, and an unknown action is still readable", () => {
  const failed = { action: "login.failed", actor: null, actorName: null };
  expect(sentence({ ...failed, subject: "demo@example.com" })).toBe(
    "Someone failed to sign in as demo@example.com",
  );
  expect(sentence({ action: "masking.changed" })).toBe("Mara Lind changed masking");
});

test("the filter offers only types that a workspace has", () => {
  const types = WORKSPACE_ACTIONS.map(({ value }) => value);
  expect(types).toContain("member.invited");
  expect(types).not.toContain("telemetry.expired");
});

test("a CSV cell is quoted, and never a formula", () => {
  const evil = { ...ENTRY, actorName: '=1+1, "x"', subjectName: "a, b" };
  const [, row] = toCsv([evil]).split("\r\n");
  expect(row).toBe(
    `2026-11-17T09:03:12Z,"'=1+1, ""x""","created the key “a, b” (ingest)",key.created,usr_mara,key_1,203.0.113.7`,
  );
});
