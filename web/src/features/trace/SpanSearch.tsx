/** The search box of a trace: counts the matching spans and steps through them. */
import { ChevronDown, ChevronUp, Search } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import { formatCount } from "@/lib/format";
import { useShortcuts } from "@/lib/shortcuts";
import { Button } from "@/ui/Button";
import { Input } from "@/ui/Field";
import { stepMatch } from "./search";
import type { Node } from "./tree";

interface Props {
  search: {
    text: string;
    onChange: (text: string) => void;
    /** All spans, in the order of the tree. */
    nodes: Node[];
    matches: string[];
  };
  selected: string | undefined;
  onSelect: (spanId: string) => void;
}

export function SpanSearch({ search, selected, onSelect }: Props) {
  const { text, onChange, nodes, matches } = search;
  const box = useRef<HTMLInputElement>(null);
  const step = (by: 1 | -1) => {
    const next = stepMatch(nodes, matches, selected, by);
    if (next) onSelect(next);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    onChange("");
    box.current?.blur();
  };
  useShortcuts([
    { keys: "/", what: "Search in this trace", run: () => box.current?.focus() },
    { keys: "n", what: "Next match", run: () => step(1) },
    { keys: "N", what: "Previous match", run: () => step(-1) },
  ]);
  const at = matches.indexOf(selected ?? "");
  return (
    <search className="flex h-11 items-center gap-1 border-b px-3">
      <div className="relative min-w-0 flex-1">
        <Search
          className="pointer-events-none absolute top-2 left-2 size-3.5 text-faint"
          aria-hidden
        />
        <Input
          ref={box}
          type="search"
          aria-label="Search in this trace"
          title="Names, inputs, outputs, attributes and errors"
          placeholder="Search in this trace"
          value={text}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={press}
          className="h-7 pl-7.5"
        />
      </div>
      <output className="min-w-20 text-right text-sm whitespace-nowrap text-muted">
        {text.trim() && countText(at, matches.length)}
      </output>
      <Button
        kind="quiet"
        size="small"
        aria-label="Previous match"
        disabled={matches.length === 0}
        onClick={() => step(-1)}
        icon={<ChevronUp className="size-3.5" />}
      />
      <Button
        kind="quiet"
        size="small"
        aria-label="Next match"
        disabled={matches.length === 0}
        onClick={() => step(1)}
        icon={<ChevronDown className="size-3.5" />}
      />
    </search>
  );
}

function countText(at: number, count: number): string {
  if (count === 0) return "No matches";
  const total = `${formatCount(count)} ${count === 1 ? "match" : "matches"}`;
  return at < 0 ? total : `${formatCount(at + 1)} of ${formatCount(count)}`;
}
