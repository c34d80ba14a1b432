/** Chooses a dimension or an attribute by its name. */
import { useEffect, useId, useRef, useState } from "react";
import { ATTRIBUTE, fieldInfo } from "@/lib/conditions";
import { Input, Select } from "../Field";
import { useAttributeKeys } from "../filters/useSuggestions";

const TYPING_MS = 400;

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

interface SuggestProps {
  label: string;
  value: string;
  suggestions: readonly string[];
  placeholder?: string;
  /** Where nothing beside the field says what it is. */
  isLabelShown?: boolean;
  /** It appears because of a click, and is filled next. */
  startsFocused?: boolean;
  onChange: (value: string) => void;
}

/** A text field with suggestions that reports its value when typing pauses. */
export function SuggestInput(props: SuggestProps) {
  const { label, value, suggestions, placeholder, isLabelShown, startsFocused, onChange } = props;
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const initialFocus = useRef(startsFocused);
  useEffect(() => {
    if (initialFocus.current) field.current?.focus();
  }, []);
  // What is being typed; it starts empty, because the browser suggests only what matches the text.
  const [typed, setTyped] = useState<string>();
  useEffect(() => {
    if (!typed || typed === value) return;
    const timer = setTimeout(() => onChange(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <span className="flex grow items-center gap-2 sm:grow-0">
      {isLabelShown && (
        <label htmlFor={`${id}-field`} className="text-muted">
          {label}
        </label>
      )}
      <Input
        id={`${id}-field`}
        ref={field}
        aria-label={label}
        list={id}
        onFocus={() => setTyped("")}
        onBlur={() => {
          if (typed && typed !== value) onChange(typed);
          setTyped(undefined);
        }}
        value={typed ?? value}
        placeholder={value || placeholder}
        onChange={(event) => setTyped(event.target.value)}
        className="!w-44 grow sm:grow-0"
      />
      <datalist id={id}>
        {suggestions.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </span>
  );
}
