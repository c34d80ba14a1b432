/** Chooses a dimension or an attribute by its name. */
import { ATTRIBUTE, fieldInfo } from "@/lib/filterFields";
import { Select } from "../Field";
import { useAttributeKeys } from "../filters/useSuggestions";
import { SuggestInput } from "./SuggestInput";

interface Props {
  label: string;
  value: string;
  names: readonly string[];
  /** The text of the empty choice. */
  none: string;
  onChange: (value: string) => void;
}

export function FieldPicker({ label, value, names, none, onChange }: Props) {
  const isAttribute = value.startsWith(ATTRIBUTE);
  const attributes = useAttributeKeys("", isAttribute);
  return (
    <>
      <Select
        aria-label={label}
        value={isAttribute ? ATTRIBUTE : value}
        onChange={onChange}
        options={[
          { value: "", label: none },
          ...names.map((name) => ({ value: name, label: fieldInfo(name).label })),
          { value: ATTRIBUTE, label: "Attribute …" },
        ]}
      />
      {isAttribute && (
        <SuggestInput
          label={`${label}: attribute`}
          value={value.slice(ATTRIBUTE.length)}
          suggestions={attributes.data?.map(({ name }) => name) ?? []}
          placeholder="Attribute key"
          startsFocused={value === ATTRIBUTE}
          onChange={(key) => onChange(ATTRIBUTE + key)}
        />
      )}
    </>
  );
}
