/** A combo box of the values of a field that occur in the range; other text is refused. */
import { Combobox } from "@base-ui/react/combobox";
import { ChevronsUpDown } from "lucide-react";
import { useId, useState } from "react";
import type { Condition } from "@/lib/conditions";
import { fieldInfo } from "@/lib/filterFields";
import { useDebounced } from "@/lib/useDebounced";
import { cx } from "../cx";
import { BOX } from "../Field";
import { useValues } from "../filters/useSuggestions";
import { PANEL } from "../overlayStyles";

interface Props {
  label: string;
  field: string;
  value: string;
  /** Restricts the values. */
  where: readonly Condition[];
  /** Empty text asks for the default. */
  onChange: (value: string) => void;
}

export function ValueBox({ label, field, value, where, onChange }: Props) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const search = useDebounced(typed);
  const frequent = useValues(field, "", field !== "", where);
  const found = useValues(field, search, field !== "" && search !== "", where);
  const names = [...(frequent.data ?? []), ...(found.data ?? [])].map(({ name }) => name);
  const isSearching = found.isFetching || typed !== search;
  return (
    <Combobox.Root
      items={[...new Set(names)]}
      value={value || null}
      onValueChange={(chosen: string | null) => onChange(chosen ?? "")}
      onInputValueChange={(text, { reason }) => setTyped(reason === "input-change" ? text : "")}
      autoHighlight
    >
      <span className="flex grow items-center gap-2 sm:grow-0">
        <label htmlFor={id} className="text-muted">
          {label}
        </label>
        <span className="relative grow sm:grow-0">
          <Combobox.Input
            id={id}
            onFocus={(event) => event.target.select()}
            className={cx(BOX, "w-full pr-7 sm:w-48")}
          />
          <Combobox.Trigger
            aria-label={`Values for ${label.toLowerCase()}`}
            className="absolute inset-y-0 right-0 px-2 text-muted"
          >
            <ChevronsUpDown className="size-3.5" aria-hidden />
          </Combobox.Trigger>
        </span>
      </span>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={4} collisionPadding={8} className="z-40">
          <Combobox.Popup data-overlay className={cx(PANEL, "max-w-96")}>
            <Combobox.Empty className="px-2 py-1 text-sm text-muted empty:hidden">
              {isSearching
                ? "Searching…"
                : `No ${fieldInfo(field).label.toLowerCase()} like “${typed}” in this period`}
            </Combobox.Empty>
            <Combobox.List aria-label={`Values for ${label.toLowerCase()}`}>
              {(name: string) => (
                <Combobox.Item
                  key={name}
                  value={name}
                  className="cursor-pointer truncate rounded px-2 py-1 data-highlighted:bg-hover data-selected:text-accent"
                >
                  {name}
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
