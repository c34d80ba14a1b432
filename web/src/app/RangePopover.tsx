import { type ReactNode, useState } from "react";
import { CALENDAR, PRESETS, type Preset, type Range, useSetRange } from "@/lib/range";
import { fromField, toField, useTimeZone } from "@/lib/timeZone";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { Popover, PopoverItem } from "@/ui/Popover";
import { ZoneField } from "./ZoneField";

/** The presets and the fields of a custom range. */
export default function RangePopover({ range, label }: { range: Range; label: ReactNode }) {
  const { setPreset, setCustom } = useSetRange();
  const zone = useTimeZone();
  return (
    <Popover
      ariaLabel="Time range"
      align="end"
      buttonClass="rounded-none min-w-0"
      className="flex w-[min(26rem,calc(100vw-2rem))] gap-1 max-sm:flex-col"
      label={label}
    >
      {(close) => (
        <>
          <div
            className="w-36 shrink-0 max-h-[60vh] overflow-auto max-sm:grid max-sm:w-full max-sm:grid-cols-2"
            tabIndex={-1}
          >
            {Object.entries({ ...CALENDAR, ...PRESETS }).map(([id, preset]) => (
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
            key={`${zone} ${range.from.getTime()}`}
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

function Custom({ range, onApply }: { range: Range; onApply: (from: Date, to: Date) => void }) {
  const [from, setFrom] = useState(toField(range.from));
  const [to, setTo] = useState(toField(range.to));
  const isValid = Boolean(from && to) && fromField(from) < fromField(to);
  return (
    <form
      className="flex min-w-0 flex-1 flex-col gap-2 p-2 max-sm:border-t sm:border-l"
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onApply(fromField(from), fromField(to));
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
      <Button type="submit" kind="primary" disabled={!isValid}>
        Apply
      </Button>
      <ZoneField />
    </form>
  );
}
