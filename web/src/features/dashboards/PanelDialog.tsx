/** Edits a panel: its title, size and query, with the result below. */
import { useState } from "react";
import {
  type Draft,
  describeDraft,
  draftToPanel,
  NEW_DRAFT,
  type Panel,
  panelToDraft,
} from "@/lib/queryDraft";
import { useRange } from "@/lib/range";
import { useResult } from "@/lib/runQuery";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Select, TextField } from "@/ui/Field";
import { QueryChart } from "@/ui/query/QueryChart";
import { QueryForm } from "@/ui/query/QueryForm";
import { QueryResult } from "@/ui/states";

const PREVIEW_HEIGHT = 220;
const MOST_TITLE = 200;
const WIDTHS = Array.from({ length: 12 }, (_, index) => index + 1);
const HEIGHTS = Array.from({ length: 12 }, (_, index) => index + 1);

interface Props {
  /** Without it a new panel is made. */
  panel?: Panel | undefined;
  onClose: () => void;
  onSave: (panel: Panel) => void;
}

export function PanelDialog({ panel, onClose, onSave }: Props) {
  const [initial] = useState<Draft>(panel ? panelToDraft(panel) : NEW_DRAFT);
  const [draft, setDraft] = useState(initial);
  const [title, setTitle] = useState(panel?.title ?? "");
  const [width, setWidth] = useState(panel?.width ?? 6);
  const [height, setHeight] = useState(panel?.height ?? 4);
  const range = useRange();
  const shownTitle = title.trim() || describeDraft(draft).slice(0, MOST_TITLE);
  const { answer, granularity, query } = useResult(draft);
  return (
    <Dialog
      isOpen
      isChanged={draft !== initial}
      onClose={onClose}
      title={panel ? "Edit panel" : "Add panel"}
      className="!w-[min(60rem,calc(100vw-1rem))]"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            onClick={() => onSave(draftToPanel(draft, range, { title: shownTitle, width, height }))}
          >
            {panel ? "Apply" : "Add"}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="grid grid-cols-2 gap-3 sm:grid-cols-[minmax(0,1fr)_8rem_8rem]">
          <div className="max-sm:col-span-2">
            <TextField
              label="Title"
              value={title}
              placeholder={describeDraft(draft)}
              maxLength={MOST_TITLE}
              onChange={setTitle}
            />
          </div>
          <SizeField label="Width" value={width} sizes={WIDTHS} of="of 12" onChange={setWidth} />
          <SizeField label="Height" value={height} sizes={HEIGHTS} of="rows" onChange={setHeight} />
        </div>
        <QueryForm draft={draft} onChange={setDraft} />
        <section aria-label="Preview" className="rounded-lg border p-3">
          <QueryResult query={answer} rejected="The query is not valid" height={PREVIEW_HEIGHT}>
            {(result) => (
              <QueryChart
                title={shownTitle}
                chart={draft.chart}
                query={query}
                result={result}
                granularity={granularity}
                height={PREVIEW_HEIGHT}
              />
            )}
          </QueryResult>
        </section>
      </div>
    </Dialog>
  );
}

interface SizeProps {
  label: string;
  value: number;
  sizes: number[];
  of: string;
  onChange: (value: number) => void;
}

function SizeField({ label, value, sizes, of, onChange }: SizeProps) {
  const all = sizes.includes(value) ? sizes : [...sizes, value];
  return (
    <Field label={label}>
      {(props) => (
        <Select
          {...props}
          value={String(value)}
          onChange={(next) => onChange(Number(next))}
          options={all.map((size) => ({ value: String(size), label: `${size} ${of}` }))}
        />
      )}
    </Field>
  );
}
