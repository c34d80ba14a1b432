/** The fields of all filters. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useFilterValues } from "@/lib/queries";
import { useSetUrl, useUrl } from "@/lib/url";
import { Field, Input, Select } from "@/ui/Field";
import { Popover } from "@/ui/Popover";
import { CHOICES, TYPED } from "./filters";

function useOptions(): Record<string, string[]> {
  const { data } = useFilterValues();
  return {
    status: ["success", "error"],
    errorType: data?.errorTypes ?? [],
    model: data?.models ?? [],
    tool: data?.tools ?? [],
    provider: data?.providers ?? [],
  };
}

export default function FilterPopover({ label }: { label: ReactNode }) {
  const url = useUrl();
  const setUrl = useSetUrl();
  const options = useOptions();
  return (
    <Popover ariaLabel="Filters" className="w-72 p-3" label={label}>
      {() => (
        <div className="flex flex-col gap-2.5">
          {CHOICES.map(({ key, label }) => (
            <Field key={key} label={label}>
              {(props) => (
                <Select
                  {...props}
                  className="w-full max-w-none"
                  value={url[key] ?? ""}
                  onChange={(value) => setUrl({ [key]: value || undefined })}
                  options={[
                    { value: "", label: "Any" },
                    ...withCurrent(options[key] ?? [], url[key]),
                  ]}
                />
              )}
            </Field>
          ))}
          <div className="grid grid-cols-2 gap-2.5">
            {TYPED.map(({ key, label, unit, type }) => (
              <Field key={key} label={unit ? `${label}, ${unit}` : label}>
                {(props) => (
                  <TypedFilter
                    {...props}
                    type={type}
                    value={url[key] ?? ""}
                    onChange={(value) => setUrl({ [key]: value || undefined })}
                  />
                )}
              </Field>
            ))}
          </div>
        </div>
      )}
    </Popover>
  );
}

interface TypedFilterProps {
  type: string;
  value: string;
  onChange: (value: string) => void;
}

/** Applies its text on Enter, on blur, and when the popover closes. */
function TypedFilter({ value, onChange, ...rest }: TypedFilterProps) {
  const [text, setText] = useState(value);
  const apply = useRef(() => {});
  apply.current = () => text !== value && onChange(text);
  useEffect(() => () => apply.current(), []);
  return (
    <Input
      {...rest}
      min={0}
      step="any"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => apply.current()}
      onKeyDown={(event) => event.key === "Enter" && apply.current()}
    />
  );
}

function withCurrent(values: string[], current: string | undefined): string[] {
  return current && !values.includes(current) ? [current, ...values] : values;
}
