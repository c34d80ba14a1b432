/** How long telemetry is kept, with what a change would remove. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, type Schemas, unwrap, type Workspace } from "@/lib/api";
import { formatCount, formatCounted } from "@/lib/format";
import { useUnsaved } from "@/lib/unsaved";
import { Button } from "@/ui/Button";
import { ConfirmDialog } from "@/ui/ConfirmDialog";
import { TextField } from "@/ui/Field";
import { Section } from "./Section";
import { useWorkspaceChange } from "./useWorkspaceChange";

type Preview = Schemas["RetentionPreview"];

const MAX_DAYS = 36_500;

export function Retention({ workspace }: { workspace: Workspace }) {
  const [days, setDays] = useState(asText(workspace.retentionDays));
  const [contentDays, setContentDays] = useState(asText(workspace.contentRetentionDays));
  const [isConfirming, setConfirming] = useState(false);
  const save = useWorkspaceChange(workspace);
  const wanted = { retentionDays: asDays(days), contentRetentionDays: asDays(contentDays) };
  const isValid = wanted.retentionDays !== undefined && wanted.contentRetentionDays !== undefined;
  const isChanged =
    wanted.retentionDays !== workspace.retentionDays ||
    wanted.contentRetentionDays !== workspace.contentRetentionDays;
  useUnsaved(isChanged);
  const preview = usePreview(workspace, wanted.retentionDays, wanted.contentRetentionDays);
  const about = (field: string) =>
    save.error instanceof ApiError ? save.error.about(field) : undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid && isChanged) setConfirming(true);
      }}
    >
      <Section
        title="Everything"
        hint="Traces, spans, signals, logs and metrics older than this are deleted. Leave it empty to keep everything."
      >
        <Days
          label="Delete after (days)"
          value={days}
          isValid={wanted.retentionDays !== undefined}
          error={about("retentionDays")}
          onChange={setDays}
        />
      </Section>
      <Section
        title="Contents"
        hint="Inputs, outputs and attributes can be removed earlier. Names, tokens, costs and times stay, so charts do not change."
      >
        <Days
          label="Remove contents after (days)"
          value={contentDays}
          isValid={wanted.contentRetentionDays !== undefined}
          error={about("contentRetentionDays")}
          onChange={setContentDays}
        />
      </Section>
      <Section title="What would be removed now" hint="Counted in this workspace only.">
        <p aria-live="polite">{preview ? describe(preview) : "Counting…"}</p>
        <Button
          kind="primary"
          type="submit"
          className="mt-3"
          disabled={!isValid || !isChanged}
          busy={save.isPending}
        >
          Save
        </Button>
      </Section>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title="Change the retention?"
        action="Change retention"
        isDangerous
        isBusy={save.isPending}
        onConfirm={() => save.mutate(wanted as Days, { onSettled: () => setConfirming(false) })}
      >
        <p>{preview ? describe(preview) : ""}</p>
        <p className="mt-2 text-muted">Removed telemetry cannot be restored.</p>
      </ConfirmDialog>
    </form>
  );
}

interface Days {
  retentionDays: number | null;
  contentRetentionDays: number | null;
}

interface DaysProps {
  label: string;
  value: string;
  isValid: boolean;
  error: string | undefined;
  onChange: (value: string) => void;
}

function Days({ label, value, isValid, error, onChange }: DaysProps) {
  const problem = isValid ? error : `A whole number from 1 to ${formatCount(MAX_DAYS)}`;
  return (
    <TextField
      label={label}
      inputMode="numeric"
      placeholder="Keep"
      className="max-w-40"
      error={problem}
      value={value}
      onChange={onChange}
    />
  );
}

function usePreview(
  workspace: Workspace,
  days: number | null | undefined,
  contentDays: number | null | undefined,
): Preview | undefined {
  const query = { ...(days && { days }), ...(contentDays && { contentDays }) };
  const { data } = useQuery({
    queryKey: ["retention", workspace.id, query],
    queryFn: () =>
      unwrap(
        api.GET("/api/workspaces/{workspaceId}/retention", {
          params: { path: { workspaceId: workspace.id }, query },
        }),
      ),
    enabled: days !== undefined && contentDays !== undefined,
    placeholderData: keepPreviousData,
  });
  return data;
}

/** Null for an empty field, undefined for an invalid one. */
export function asDays(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const days = Number(text);
  return Number.isInteger(days) && days >= 1 && days <= MAX_DAYS ? days : undefined;
}

function asText(days: number | null): string {
  return days === null ? "" : String(days);
}

/** One sentence about what goes. */
export function describe({ rows, spansWithoutContents }: Preview): string {
  const kinds = Object.entries(rows).filter(([, count]) => count > 0);
  const gone = kinds
    .map(([kind, count]) => formatCounted(count, kind.replace(/s$/, "")))
    .join(", ");
  const verb = kinds.length === 1 && kinds[0]?.[1] === 1 ? "is" : "are";
  const emptied = spansWithoutContents
    ? `The contents of ${formatCounted(spansWithoutContents, "span")} are removed.`
    : "";
  return [gone && `${gone} ${verb} deleted.`, emptied].filter(Boolean).join(" ") || "Nothing.";
}
