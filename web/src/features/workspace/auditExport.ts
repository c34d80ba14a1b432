/** Audit entries as a file. */
import { type AuditEntry, actorOf, describeAction } from "@/lib/audit";

const HEADER = ["at", "who", "what", "type", "actor", "subject", "address"];

/** A text that starts like a formula would be executed by a spreadsheet. */
function toCell(value: string): string {
  const safe = /^[=+\-@\t]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toCsv(entries: AuditEntry[]): string {
  const rows = entries.map((entry) => [
    entry.at,
    actorOf(entry),
    describeAction(entry),
    entry.action,
    entry.actor ?? "",
    entry.subject ?? "",
    entry.address ?? "",
  ]);
  return [HEADER, ...rows].map((row) => `${row.map(toCell).join(",")}\r\n`).join("");
}

export function toJson(entries: AuditEntry[]): string {
  return JSON.stringify(entries, null, 2);
}
