/** Chooses the time zone of all pages, which is remembered in this browser. */
import { useState } from "react";
import { LOCAL_ZONE, listZones, setTimeZone, useTimeZone, zoneName } from "@/lib/timeZone";
import { Button } from "@/ui/Button";
import { Field, Input, Select } from "@/ui/Field";

const MOST = 50;

export function ZoneField() {
  const zone = useTimeZone();
  const [isSearching, setSearching] = useState(false);
  const isOther = zone !== "local" && zone !== "utc";
  return (
    <>
      <Field
        label="Time zone"
        hint={zoneName() === "UTC" ? undefined : "Charts by day, week and month use UTC days."}
      >
        {(props) => (
          <Select
            {...props}
            className="w-full !max-w-none"
            value={isSearching ? "other" : zone}
            onChange={(value) => {
              setSearching(value === "other");
              if (value !== "other") setTimeZone(value);
            }}
            options={[
              { value: "local", label: `Local (${LOCAL_ZONE})` },
              { value: "utc", label: "UTC" },
              ...(isOther ? [{ value: zone, label: zone }] : []),
              { value: "other", label: "Other …" },
            ]}
          />
        )}
      </Field>
      {isSearching && <ZoneSearch onChosen={() => setSearching(false)} />}
    </>
  );
}

/** Finds a zone by a part of its name: cities and continents. */
function ZoneSearch({ onChosen }: { onChosen: () => void }) {
  const [text, setText] = useState("");
  const words = text.toLowerCase().replaceAll(" ", "_");
  const found = listZones().filter((name) => name.toLowerCase().includes(words));
  const choose = (name: string | undefined) => {
    if (!name) return;
    setTimeZone(name);
    onChosen();
  };
  return (
    <div className="flex flex-col gap-1">
      <Input
        aria-label="Search time zones"
        placeholder="City or region"
        value={text}
        autoFocus
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          // It must not apply the range.
          event.preventDefault();
          choose(found[0]);
        }}
      />
      <ul aria-label="Time zones" className="max-h-40 overflow-auto rounded-md border">
        {found.slice(0, MOST).map((name) => (
          <li key={name}>
            <Button
              kind="quiet"
              size="small"
              className="w-full !justify-start"
              onClick={() => choose(name)}
            >
              {name.replaceAll("_", " ")}
            </Button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="text-sm text-muted">No time zone has this name</p>}
    </div>
  );
}
