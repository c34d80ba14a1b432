import { useEffect, useId, useRef, useState } from "react";
import { Input } from "../Field";

const TYPING_MS = 400;

interface Props {
  label: string;
  value: string;
  suggestions: readonly string[];
  placeholder?: string;
  /** It appears because of a click, and is filled next. */
  startsFocused?: boolean;
  /** Empty text asks for the default. */
  onChange: (value: string) => void;
}

/** A text field with suggestions that reports its value when typing pauses. */
export function SuggestInput(props: Props) {
  const { label, value, suggestions, placeholder, startsFocused, onChange } = props;
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const initialFocus = useRef(startsFocused);
  useEffect(() => {
    if (initialFocus.current) field.current?.focus();
  }, []);
  // What is being typed, or was until the value follows.
  const [typed, setTyped] = useState<string>();
  const reported = useRef(value);
  // A value that was not typed here, for example after going back, replaces what was.
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    setTyped(undefined);
  }, [value]);
  const report = (text: string) => {
    if (text === reported.current) return;
    reported.current = text;
    onChange(text);
  };
  useEffect(() => {
    // An empty field may be about to be filled.
    if (!typed || typed === reported.current) return;
    const timer = setTimeout(() => report(typed), TYPING_MS);
    return () => clearTimeout(timer);
  });
  const finish = () => {
    if (typed !== undefined) report(typed);
    setTyped(undefined);
  };
  return (
    <span className="flex grow items-center gap-2 sm:grow-0">
      <Input
        id={`${id}-field`}
        ref={field}
        aria-label={label}
        list={id}
        // The browser suggests what matches the text: without it, everything.
        onFocus={(event) => event.target.select()}
        onBlur={finish}
        onKeyDown={(event) => event.key === "Enter" && finish()}
        value={typed ?? value}
        placeholder={placeholder}
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
