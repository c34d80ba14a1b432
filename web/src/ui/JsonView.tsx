/** JSON as a collapsible tree; long strings are shortened. Always text, never HTML. */
import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { cx } from "./cx";

const OPEN_DEPTH = 2;
const CHILDREN = 100;
const MAX_CHARACTERS = 500;
const SMALL = 240;
const MAX_PEEK_DEPTH = 5;

export function JsonView({ value, depth = 0 }: { value: unknown; depth?: number }) {
  if (typeof value === "string") return <JsonText text={value} />;
  if (value === null || typeof value !== "object") {
    const colour = typeof value === "number" ? "text-info" : "text-warning";
    return <span className={colour}>{String(value)}</span>;
  }
  return <JsonBranch value={value} depth={depth} />;
}

function JsonText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > MAX_CHARACTERS;
  return (
    <span className="text-good [overflow-wrap:anywhere] whitespace-pre-wrap">
      "{isLong && !isWhole ? text.slice(0, MAX_CHARACTERS) : text}"
      {isLong && (
        <button
          type="button"
          className="ml-1 text-accent hover:underline"
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "less" : `… ${text.length - MAX_CHARACTERS} more characters`}
        </button>
      )}
    </span>
  );
}

/** Small values start expanded, large ones collapsed. */
function startsOpen(value: object, depth: number): boolean {
  return depth < OPEN_DEPTH || (depth < MAX_PEEK_DEPTH && JSON.stringify(value).length < SMALL);
}

function JsonBranch({ value, depth }: { value: object; depth: number }) {
  const [isOpen, setOpen] = useState(() => startsOpen(value, depth));
  const isList = Array.isArray(value);
  const count = Object.keys(value).length;
  if (count === 0) return <span className="text-muted">{isList ? "[]" : "{}"}</span>;
  if (depth === 0) return <JsonEntries value={value} depth={depth} />;
  const noun = isList ? "item" : "field";
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="inline-flex items-center gap-1 align-top text-muted hover:text-fg"
      >
        <ChevronRight
          className={cx("size-3 transition-transform", isOpen && "rotate-90")}
          aria-hidden
        />
        {count} {noun}
        {count === 1 ? "" : "s"}
      </button>
      {isOpen && (
        <div className="border-l pl-3">
          <JsonEntries value={value} depth={depth} />
        </div>
      )}
    </>
  );
}

function JsonEntries({ value, depth }: { value: object; depth: number }) {
  const [shown, setShown] = useState(CHILDREN);
  const entries = Object.entries(value);
  return (
    <>
      {entries.slice(0, shown).map(([key, child]) => (
        <JsonRow key={key} name={key}>
          <JsonView value={child} depth={depth + 1} />
        </JsonRow>
      ))}
      {entries.length > shown && (
        <button
          type="button"
          className="text-accent hover:underline"
          onClick={() => setShown(shown + 1000)}
        >
          {entries.length - shown} more
        </button>
      )}
    </>
  );
}

function JsonRow({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="font-mono text-sm leading-5">
      <span className="text-muted">{name}</span>
      <span className="text-faint">: </span>
      {children}
    </div>
  );
}
