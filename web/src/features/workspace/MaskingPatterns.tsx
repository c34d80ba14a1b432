import { Plus, X } from "lucide-react";
import type { Schemas } from "@/lib/api";
import { Button } from "@/ui/Button";
import { Input } from "@/ui/Field";

type Pattern = Schemas["MaskingPattern"];

const MAX_PATTERNS = 20;

interface Props {
  patterns: Pattern[];
  onChange: (patterns: Pattern[]) => void;
}

/** Rows of a name and a regular expression. */
export function MaskingPatterns({ patterns, onChange }: Props) {
  const change = (index: number, part: Partial<Pattern>) =>
    onChange(patterns.map((one, at) => (at === index ? { ...one, ...part } : one)));
  return (
    <div className="grid gap-2">
      {patterns.map((pattern, index) => (
        <div key={index} className="grid grid-cols-[8rem_minmax(0,1fr)_auto] gap-2">
          <Input
            aria-label={`Name of pattern ${index + 1}`}
            placeholder="ticket"
            value={pattern.name}
            onChange={(event) => change(index, { name: event.target.value })}
          />
          <Input
            aria-label={`Expression of pattern ${index + 1}`}
            className="font-mono"
            placeholder="TICKET-[0-9]+"
            value={pattern.regex}
            onChange={(event) => change(index, { regex: event.target.value })}
          />
          <Button
            aria-label={`Remove pattern ${index + 1}`}
            icon={<X className="size-4" />}
            onClick={() => onChange(patterns.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <div>
        <Button
          icon={<Plus className="size-4" />}
          disabled={patterns.length >= MAX_PATTERNS}
          onClick={() => onChange([...patterns, { name: "", regex: "" }])}
        >
          Add pattern
        </Button>
      </div>
    </div>
  );
}
