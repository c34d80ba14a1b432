/** What is masked before telemetry is stored, with a preview on pasted text. */

import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { ApiError, api, type Schemas, unwrap, type Workspace } from "@/lib/api";
import { workspacesQuery } from "@/lib/queries";
import { useUnsaved } from "@/lib/unsaved";
import { Button } from "@/ui/Button";
import { Checkbox, Field, Select, TextArea } from "@/ui/Field";
import { toast } from "@/ui/Toast";
import { MaskingPatterns } from "./MaskingPatterns";
import { Section } from "./Section";

type Rules = Required<Schemas["MaskingRules"]>;
type Detector = Schemas["Detector"];

const MODES = [
  { value: "off", label: "Off: store everything as sent" },
  { value: "mask", label: "Mask detected values" },
  { value: "metadataOnly", label: "Metadata only: store no contents" },
];
const DETECTORS: Record<Detector, string> = {
  email: "E-mail addresses",
  phone: "Phone numbers",
  creditCard: "Card numbers",
  iban: "IBANs",
  ipAddress: "IP addresses",
  secret: "Secrets: API keys, tokens, private keys",
};
const SAMPLE =
  "Ann (ann@example.com, +49 30 901820) paid with 4111 1111 1111 1111 from 203.0.113.7.";

export function Masking({ workspace }: { workspace: Workspace }) {
  const queries = useQueryClient();
  const saved = complete(workspace.masking);
  const [rules, setRules] = useState(saved);
  const change = (part: Partial<Rules>) => setRules({ ...rules, ...part });
  const isChanged = JSON.stringify(clean(rules)) !== JSON.stringify(saved);
  useUnsaved(isChanged);
  const save = useMutation({
    mutationFn: () =>
      unwrap(
        api.PUT("/api/workspaces/{workspaceId}/masking", {
          params: { path: { workspaceId: workspace.id } },
          body: clean(rules),
        }),
      ),
    onSuccess: (masking) => {
      queries.setQueryData(workspacesQuery.queryKey, (own) =>
        own?.map((one) => (one.id === workspace.id ? { ...one, masking } : one)),
      );
      toast("Saved. New telemetry is masked from now on.", "good");
    },
  });
  const problem = save.error instanceof ApiError ? save.error.message : undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <Section
        title="Mode"
        hint="Applies before anything is written to a disk. Telemetry that is already stored does not change."
      >
        <Field label="What is stored">
          {(props) => (
            <Select
              {...props}
              className="w-full max-w-none"
              value={rules.mode}
              options={MODES}
              onChange={(mode) => change({ mode: mode as Rules["mode"] })}
            />
          )}
        </Field>
      </Section>
      {rules.mode !== "off" && (
        <>
          <Section title="Detectors" hint="Matches are replaced by placeholders such as [email].">
            <div className="grid gap-1.5">
              {Object.entries(DETECTORS).map(([detector, label]) => (
                <Checkbox
                  key={detector}
                  label={label}
                  checked={rules.detectors.includes(detector as Detector)}
                  onChange={(event) =>
                    change({
                      detectors: toggle(
                        rules.detectors,
                        detector as Detector,
                        event.target.checked,
                      ),
                    })
                  }
                />
              ))}
            </div>
          </Section>
          <Section
            title="Own patterns"
            hint="Regular expressions of RE2; look-around and back-references are not supported."
          >
            <MaskingPatterns
              patterns={rules.patterns}
              onChange={(patterns) => change({ patterns })}
            />
          </Section>
          <Section title="Attributes to drop" hint="One name per line; * stands for anything.">
            <Field label="Attributes">
              {(props) => (
                <TextArea
                  {...props}
                  placeholder={"http.request.header.*\nuser.phone"}
                  value={rules.dropAttributes.join("\n")}
                  onChange={(event) =>
                    change({ dropAttributes: event.target.value.split("\n").slice(0, 50) })
                  }
                />
              )}
            </Field>
          </Section>
        </>
      )}
      <Preview workspace={workspace} rules={rules} />
      <Section title="Save" hint={problem && <span className="text-bad">{problem}</span>}>
        <Button kind="primary" type="submit" disabled={!isChanged} busy={save.isPending}>
          Save
        </Button>
      </Section>
    </form>
  );
}

function Preview({ workspace, rules }: { workspace: Workspace; rules: Rules }) {
  const [text, setText] = useState(SAMPLE);
  const body = useDeferredValue({ text, rules: clean(rules) });
  const { data, error } = useQuery({
    queryKey: ["masking-preview", workspace.id, body],
    queryFn: () =>
      unwrap(
        api.POST("/api/workspaces/{workspaceId}/masking/preview", {
          params: { path: { workspaceId: workspace.id } },
          body,
        }),
      ),
    placeholderData: keepPreviousData,
    retry: false,
  });
  return (
    <Section title="Preview" hint="Paste a text to see what would be kept. Nothing is stored.">
      <Field label="Text">
        {(props) => (
          <TextArea
            {...props}
            value={text}
            maxLength={100_000}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <p className="mt-3 mb-1 font-medium">Stored as</p>
      <p
        aria-live="polite"
        className="min-h-10 rounded-md border bg-raised px-2.5 py-1.5 break-words whitespace-pre-wrap"
      >
        {error ? (
          <span className="text-bad">{error.message}</span>
        ) : (
          data?.text || <span className="text-muted">Nothing.</span>
        )}
      </p>
    </Section>
  );
}

function complete(rules: Schemas["MaskingRules"]): Rules {
  return {
    mode: rules.mode ?? "off",
    detectors: rules.detectors ?? [],
    patterns: rules.patterns ?? [],
    dropAttributes: rules.dropAttributes ?? [],
  };
}

/** Without lines that are still empty. */
function clean(rules: Rules): Rules {
  return {
    ...rules,
    patterns: rules.patterns.filter(({ name, regex }) => name && regex),
    dropAttributes: rules.dropAttributes.filter((name) => name.trim()),
  };
}

function toggle(chosen: Detector[], detector: Detector, isOn: boolean): Detector[] {
  const others = chosen.filter((one) => one !== detector);
  return isOn ? [...others, detector] : others;
}
