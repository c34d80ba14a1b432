/** Adds a filter: first the field or attribute, then the operator and its values. */
import { ChevronLeft } from "lucide-react";
import { type ReactNode, useContext, useState } from "react";
import type { Condition } from "@/lib/conditions";
import { ATTRIBUTE, FilteredRowsContext, fieldInfo } from "@/lib/filterFields";
import { formatCompact } from "@/lib/format";
import { Button } from "../Button";
import { Input } from "../Field";
import { Popover } from "../Popover";
import { ConditionForm } from "./ConditionForm";
import { useAttributeKeys } from "./useSuggestions";

interface Props {
  label: ReactNode;
  onAdd: (added: readonly Condition[]) => void;
}

export default function FilterPopover({ label, onAdd }: Props) {
  return (
    <Popover
      ariaLabel="Add filter"
      className="w-[min(22rem,calc(100vw-2rem))] !overflow-hidden p-2"
      label={label}
    >
      {(close) => (
        <Builder
          onAdd={(added) => {
            onAdd(added);
            close();
          }}
        />
      )}
    </Popover>
  );
}

function Builder({ onAdd }: { onAdd: Parameters<typeof ConditionForm>[0]["onDone"] }) {
  const [field, setField] = useState<string | null>(null);
  if (field === null) return <FieldList onPick={setField} />;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex min-w-0 items-center gap-1">
        <Button
          kind="quiet"
          size="small"
          aria-label="Back to all fields"
          onClick={() => setField(null)}
          icon={<ChevronLeft className="size-4" />}
        />
        <h2 className="truncate font-medium" title={fieldInfo(field).label}>
          {fieldInfo(field).label}
        </h2>
      </div>
      <ConditionForm key={field} field={field} onDone={onAdd} />
    </div>
  );
}

function FieldList({ onPick }: { onPick: (field: string) => void }) {
  const [search, setSearch] = useState("");
  const rows = useContext(FilteredRowsContext);
  const attributes = useAttributeKeys(search);
  const isWanted = (name: string) => name.toLowerCase().includes(search.toLowerCase());
  const fields = rows.fields.filter(({ label }) => isWanted(label));
  // Until the answer arrives, the data is that of an earlier search.
  const keys = attributes.data?.filter(({ name }) => isWanted(name));
  // The names of attributes that are not suggested must be typed.
  const typed = rows.attributes && search && !keys?.some(({ name }) => name === search);
  const pickFirst = () => {
    const attribute = keys?.[0]?.name ?? (typed && search);
    const first = fields[0]?.id ?? (attribute && ATTRIBUTE + attribute);
    if (search && first) onPick(first);
  };
  return (
    <div className="flex flex-col gap-1">
      <Input
        type="search"
        aria-label="Search fields and attributes"
        placeholder="Search fields and attributes"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          pickFirst();
        }}
      />
      <div className="max-h-80 overflow-auto" tabIndex={-1}>
        {fields.map(({ id, label }) => (
          <Item key={id} onClick={() => onPick(id)}>
            {label}
          </Item>
        ))}
        <h3 className="px-2 pt-2 pb-1 text-xs text-muted">Attributes of {rows.attributesOf}</h3>
        {keys?.map(({ name, count }) => (
          <Item key={name} onClick={() => onPick(ATTRIBUTE + name)} count={count}>
            <span className="font-mono text-sm">{name}</span>
          </Item>
        ))}
        {typed && (
          <Item onClick={() => onPick(ATTRIBUTE + search)}>
            Use <span className="font-mono text-sm">{search}</span>
          </Item>
        )}
        {keys?.length === 0 && !typed && (
          <Note>{rows.attributes ? "Type a name" : "No attributes in this period"}</Note>
        )}
        {attributes.isPending && <Note>Loading…</Note>}
        {attributes.error && <Note>{attributes.error.message}</Note>}
      </div>
    </div>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <p className="px-2 py-1 text-sm text-muted">{children}</p>;
}

interface ItemProps {
  onClick: () => void;
  count?: number | undefined;
  children: ReactNode;
}

function Item({ onClick, count, children }: ItemProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex h-7 w-full items-center gap-2 rounded px-2 text-left hover:bg-hover"
    >
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {count !== undefined && <span className="text-sm text-muted">{formatCompact(count)}</span>}
    </button>
  );
}
