import { cx } from "@/ui/cx";

/** Operations with which the GenAI conventions begin the names of spans. */
const OPERATION =
  /^(chat|completion|create_agent|embeddings|execute_tool|generate_content|invoke_agent|invoke_workflow|retrieval|text_completion) (?=.)/;

/** The operation, which the icon of the kind shows too, and what it is applied to. */
export function splitName(name: string): [operation: string, subject: string] {
  const operation = OPERATION.exec(name)?.[0] ?? "";
  return [operation, name.slice(operation.length)];
}

/**
 * A span's name; where room is short, without its operation: the subject then wraps to a second
 * line, and only the last line is shown.
 */
export function SpanName({ name, className }: { name: string; className?: string }) {
  const [operation, subject] = splitName(name);
  return (
    <span
      className={cx("flex h-5 min-w-0 flex-wrap content-end overflow-hidden", className)}
      title={name}
    >
      {operation && <span className="whitespace-pre">{operation}</span>}
      <span className="max-w-full truncate">{subject}</span>
    </span>
  );
}
