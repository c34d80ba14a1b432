/** Who did what in the workspace, newest first. */
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useId } from "react";
import type { Workspace } from "@/lib/api";
import { WORKSPACE_ACTIONS } from "@/lib/audit";
import { saveFile } from "@/lib/files";
import { useMembers } from "@/lib/queries";
import { useSetUrl, useUrl } from "@/lib/url";
import { AuditEntries } from "@/ui/AuditEntries";
import { Button } from "@/ui/Button";
import { Input, Select } from "@/ui/Field";
import { toast } from "@/ui/Toast";
import { toCsv, toJson } from "./auditExport";
import { findAll, MAX_EXPORTED, useAudit, useAuditQuery } from "./useAudit";

export function Audit({ workspace }: { workspace: Workspace }) {
  const list = useAudit(workspace, useAuditQuery());
  return (
    <div>
      <div className="flex flex-wrap items-center gap-2 border-b p-2">
        <Filters />
        <Exports workspace={workspace} />
      </div>
      <AuditEntries list={list}>
        Sign-ins and changes to members, keys, prices and settings are recorded here.
      </AuditEntries>
    </div>
  );
}

function Filters() {
  const { since = "", until = "", member = "", type = "" } = useUrl();
  const setUrl = useSetUrl();
  const { data: members } = useMembers();
  const people = members?.map((one) => ({ value: one.userId, label: one.name })) ?? [];
  return (
    <>
      <Day label="From" value={since} onChange={(day) => setUrl({ since: day })} />
      <Day label="To" value={until} onChange={(day) => setUrl({ until: day })} />
      <Select
        aria-label="Member"
        className="max-md:flex-1 max-md:basis-2/5"
        value={member}
        onChange={(id) => setUrl({ member: id || undefined })}
        options={[{ value: "", label: "All members" }, ...people]}
      />
      <Select
        aria-label="Type"
        className="max-md:flex-1 max-md:basis-2/5"
        value={type}
        onChange={(action) => setUrl({ type: action || undefined })}
        options={[{ value: "", label: "All types" }, ...WORKSPACE_ACTIONS]}
      />
    </>
  );
}

interface DayProps {
  label: string;
  value: string;
  onChange: (day: string | undefined) => void;
}

function Day({ label, value, onChange }: DayProps) {
  const id = useId();
  return (
    <span className="flex items-center gap-1.5 max-md:w-full">
      <label htmlFor={id} className="text-sm text-muted max-md:w-9">
        {label}
      </label>
      <Input
        id={id}
        type="date"
        className="md:!w-36"
        value={value}
        onChange={(event) => onChange(event.target.value || undefined)}
      />
    </span>
  );
}

function Exports({ workspace }: { workspace: Workspace }) {
  const filters = useAuditQuery();
  const save = useMutation({
    mutationFn: async (format: "csv" | "json") => {
      const entries = await findAll(workspace, filters);
      const text = format === "csv" ? toCsv(entries) : toJson(entries);
      const type = format === "csv" ? "text/csv" : "application/json";
      saveFile(new Blob([text], { type }), `spanwise-audit.${format}`);
      if (entries.length >= MAX_EXPORTED) {
        toast(`Only the latest ${entries.length} entries were exported. Choose shorter dates.`);
      }
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <span className="flex gap-2 md:ml-auto">
      {(["csv", "json"] as const).map((format) => (
        <Button
          key={format}
          icon={<Download className="size-3.5" />}
          busy={save.isPending && save.variables === format}
          onClick={() => save.mutate(format)}
        >
          {format.toUpperCase()}
        </Button>
      ))}
    </span>
  );
}
