/** Audit entries in plain sentences: “Mara Lind” “created the key “robot””. */
import type { Schemas } from "./api";

export type AuditEntry = Schemas["AuditEntry"];

type Describe = (subject: string, data: Record<string, unknown>) => string;

interface Action {
  /** The name of the action in a list of types. */
  label: string;
  did: Describe;
}

const quote = (text: unknown) => `“${String(text)}”`;
const article = (role: unknown) => `${/^[aeo]/.test(String(role)) ? "an" : "a"} ${String(role)}`;

const ACTIONS: Record<string, Action> = {
  "login.succeeded": { label: "Signed in", did: () => "signed in" },
  "login.failed": { label: "Failed sign-in", did: (email) => `failed to sign in as ${email}` },
  "member.invited": {
    label: "Member invited",
    did: (email, { role }) => `invited ${email} as ${article(role)}`,
  },
  "invitation.withdrawn": {
    label: "Invitation withdrawn",
    did: (email) => `withdrew the invitation of ${email}`,
  },
  "member.joined": { label: "Member joined", did: (_, { role }) => `joined as ${article(role)}` },
  "member.role_changed": {
    label: "Role changed",
    did: (person, { from, to }) => `made ${person} ${article(to)}, was ${String(from)}`,
  },
  "member.left": { label: "Member left", did: () => "left the workspace" },
  "member.removed": { label: "Member removed", did: (person) => `removed ${person}` },
  "key.created": {
    label: "Key created",
    did: (key, { scopes }) =>
      `created the key ${quote(key)}${Array.isArray(scopes) ? ` (${scopes.join(", ")})` : ""}`,
  },
  "key.rotated": { label: "Key rotated", did: (key) => `rotated the key ${quote(key)}` },
  "key.revoked": { label: "Key revoked", did: (key) => `revoked the key ${quote(key)}` },
  "key.deleted": { label: "Key deleted", did: (key) => `deleted the key ${quote(key)}` },
  "alert_rules.changed": {
    label: "Alert rules changed",
    did: (_, { name }) => `changed the alert rules of ${name ? String(name) : "all agents"}`,
  },
  "silence.created": {
    label: "Alerts silenced",
    did: (_, { reason }) => `silenced alerts${reason ? ` (${String(reason)})` : ""}`,
  },
  "silence.ended": { label: "Silence ended", did: () => "ended a silence early" },
  "price.set": { label: "Price set", did: (model) => `set the price of ${model}` },
  "price.deleted": {
    label: "Price deleted",
    did: (model) => `went back to the list price of ${model}`,
  },
  "workspace.created": {
    label: "Workspace created",
    did: (_, { name }) => `created the workspace ${quote(name)}`,
  },
  "workspace.changed": { label: "Workspace changed", did: (_, data) => describeChange(data) },
  "workspace.deleted": {
    label: "Workspace deleted",
    did: (_, { name }) => `deleted the workspace ${quote(name)}`,
  },
  "account.registered": { label: "Account created", did: () => "created an account" },
  "account.changed": {
    label: "Account changed",
    did: (person, data) => `changed the account of ${person} (${listData(data)})`,
  },
  "failure.marked": {
    label: "Failure marked",
    did: (_, { status }) => `marked a failure as ${String(status)}`,
  },
  "email.verified": { label: "E-mail verified", did: () => "verified the e-mail address" },
  "password.changed": { label: "Password changed", did: () => "changed the password" },
  "password.reset": { label: "Password reset", did: () => "reset the password" },
  "password.reset_requested": {
    label: "Password reset requested",
    did: (person) => `requested a password reset for ${person}`,
  },
  "telemetry.expired": {
    label: "Telemetry expired",
    did: (_, { before }) => `deleted telemetry from before ${String(before).slice(0, 10)}`,
  },
};

/** Actions that only concern the whole installation. */
const INSTALLATION = /^(account\.changed|workspace\.deleted|email|password|telemetry)/;

/** The types of a workspace's entries, for a filter. */
export const WORKSPACE_ACTIONS = Object.entries(ACTIONS)
  .filter(([type]) => !INSTALLATION.test(type))
  .map(([value, { label }]) => ({ value, label }));

export function actionLabel(type: string): string {
  return ACTIONS[type]?.label ?? type;
}

function describeChange({ name, require_key_expiry: isRequired }: Record<string, unknown>) {
  const changes = [];
  if (name !== undefined) changes.push(`renamed the workspace to ${quote(name)}`);
  if (isRequired === true) changes.push("made an expiry mandatory for new keys");
  if (isRequired === false) changes.push("made the expiry of keys optional");
  return changes.join(" and ") || "changed the workspace";
}

function listData(data: Record<string, unknown>): string {
  return Object.entries(data)
    .map(([key, value]) => `${key}: ${String(value)}`)
    .join(", ");
}

/** Who did it. Failed sign-ins and actions from the command line have no account. */
export function actorOf(entry: AuditEntry): string {
  if (entry.actor) return entry.actorName ?? "A deleted account";
  return /^(login|password)/.test(entry.action) ? "Someone" : "Spanwise";
}

/** What was done, to be read after the actor. */
export function describeAction(entry: AuditEntry): string {
  const { data, subject, subjectName } = entry;
  const known = subjectName ?? data.name ?? data.email ?? subject ?? "";
  const action = ACTIONS[entry.action];
  if (action) return action.did(String(known), data);
  // Types are named like `masking.changed`.
  const [noun, verb = ""] = entry.action.split(".");
  return `${verb.replaceAll("_", " ")} ${noun} ${String(known)}`.trim();
}

/** The ids behind the sentence. */
export function auditIds({ action, actor, subject }: AuditEntry): string {
  return [action, actor && `by ${actor}`, subject && `on ${subject}`].filter(Boolean).join(" · ");
}
