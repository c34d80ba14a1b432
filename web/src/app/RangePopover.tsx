import { type ReactNode, useState } from "react";
import { PRESETS, type Preset, type Range, useSetRange } from "@/lib/range";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { Popover, PopoverItem } from "@/ui/Popover";

/** The presets and the fields of a custom range. */
export default function RangePopover({ range, label }: { range: Range; label: ReactNode }) {
  const { setPreset, setCustom } = useSetRange();
  return (
    <Popover
      ariaLabel="Time range"
      align="end"
      buttonClass="rounded-none min-w-0"
      className="flex w-[min(26rem,calc(100vw-2rem))] gap-1"
      label={label}
    >
      {(close) => (
        <>
          <div className="w-36 shrink-0">
            {Object.entries(PRESETS).map(([id, preset]) => (
              <PopoverItem
                key={id}
                isActive={range.preset === id}
                onClick={() => {
                  setPreset(id as Preset);
                  close();
                }}
              >
                {preset.label}
              </PopoverItem>
            ))}
          </div>
          <Custom
            range={range}
            onApply={(from, to) => {
              setCustom(from, to);
              close();
            }}
          />
        </>
      )}
    </Popover>
  );
}

function toLocal(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

function Custom({ range, onApply }: { range: Range; onApply: (from: Date, to: Date) => void }) {
  const [from, setFrom] = useState(toLocal(range.from));
  const [to, setTo] = useState(toLocal(range.to));
  const isValid = Boolean(from && to) && new Date(from) < new Date(to);
  return (
    <form
      className="flex min-w-0 flex-1 flex-col gap-2 border-l p-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onApply(new Date(from), new Date(to));
      }}
    >
      <TextField label="From" type="datetime-local" value={from} onChange={setFrom} />
      <TextField
        label="To"
        error={isValid ? undefined : "Must be after the start"}
        type="datetime-local"
        value={to}
        onChange={setTo}
      />
      <p className="text-sm text-muted">{Intl.DateTimeFormat().resolvedOptions().timeZone}</p>
      <Button type="submit" kind="primary" disabled={!isValid}>
        Apply
      </Button>
    </form>
  );
}
