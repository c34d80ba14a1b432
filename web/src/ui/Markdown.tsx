/** Markdown as React elements, never as HTML. */
import { Fragment, type ReactNode } from "react";

const MAX_CHARACTERS = 60_000;

export function Markdown({ text }: { text: string }) {
  const shown =
    text.length > MAX_CHARACTERS
      ? `${text.slice(0, MAX_CHARACTERS)}\n\n… ${text.length - MAX_CHARACTERS} more characters, see the raw JSON`
      : text;
  return <div className="flex flex-col gap-2 [overflow-wrap:anywhere]">{blocks(shown)}</div>;
}

function blocks(text: string): ReactNode[] {
  const out: ReactNode[] = [];
  // Fenced code first: nothing inside it is formatted.
  text.split(/^```/m).forEach((piece, index) => {
    if (index % 2 === 1) {
      const code = piece.replace(/^[^\n]*\n/, "").replace(/\n$/, "");
      out.push(
        <pre
          key={`code-${index}`}
          role="region"
          tabIndex={0}
          aria-label="Code"
          className="overflow-x-auto rounded-md border bg-bg p-2.5 font-mono text-sm leading-5"
        >
          {code}
        </pre>,
      );
    } else {
      piece.split(/\n{2,}/).forEach((paragraph, at) => {
        if (paragraph.trim())
          out.push(<Fragment key={`${index}-${at}`}>{block(paragraph)}</Fragment>);
      });
    }
  });
  return out;
}

function block(paragraph: string): ReactNode {
  const lines = paragraph.replace(/^\n|\n$/g, "").split("\n");
  const heading = /^#{1,6}\s+(.*)$/.exec(lines[0] ?? "");
  if (heading) {
    return (
      <>
        <p className="font-semibold">{inline(heading[1] ?? "")}</p>
        {lines.length > 1 && block(lines.slice(1).join("\n"))}
      </>
    );
  }
  if (lines.every((line) => /^\s*([-*+]|\d+[.)])\s+/.test(line))) {
    const isOrdered = /^\s*\d/.test(lines[0] ?? "");
    const List = isOrdered ? "ol" : "ul";
    return (
      <List className={`pl-5 ${isOrdered ? "list-decimal" : "list-disc"}`}>
        {lines.map((line, index) => (
          <li key={index}>{inline(line.replace(/^\s*([-*+]|\d+[.)])\s+/, ""))}</li>
        ))}
      </List>
    );
  }
  if (lines.every((line) => line.startsWith(">"))) {
    return (
      <blockquote className="border-l-2 border-line-strong pl-3 text-muted">
        {inline(lines.map((line) => line.replace(/^>\s?/, "")).join("\n"))}
      </blockquote>
    );
  }
  return <p className="whitespace-pre-wrap">{inline(lines.join("\n"))}</p>;
}

const MARKS = /(`[^`\n]+`)|(\*\*[^*\n]+\*\*)|(\*[^*\s][^*\n]*\*)|(https?:\/\/[^\s<>"')\]]+)/g;

function inline(text: string): ReactNode[] {
  const out: ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(MARKS)) {
    const at = match.index;
    const whole = match[0];
    if (at > from) out.push(text.slice(from, at));
    out.push(<Fragment key={at}>{mark(whole)}</Fragment>);
    from = at + whole.length;
  }
  out.push(text.slice(from));
  return out;
}

function mark(whole: string): ReactNode {
  if (whole.startsWith("`")) {
    return <code className="rounded bg-raised px-1 font-mono text-sm">{whole.slice(1, -1)}</code>;
  }
  if (whole.startsWith("**"))
    return <strong className="font-semibold">{whole.slice(2, -2)}</strong>;
  if (whole.startsWith("*")) return <em>{whole.slice(1, -1)}</em>;
  return (
    <a
      href={whole}
      target="_blank"
      rel="noopener noreferrer"
      className="text-accent hover:underline"
    >
      {whole}
    </a>
  );
}
