import type { Trace } from "@/lib/api";
import { errorTypeLabel, shortErrorName } from "@/lib/errors";
import { Badge } from "./Badge";

/** What a trace failed with: the name of the exception, else the type of the error. */
export function ErrorBadge({ trace }: { trace: Pick<Trace, "errorType" | "errorName"> }) {
  const type = errorTypeLabel(trace.errorType);
  const name = shortErrorName(trace.errorName, trace.errorType);
  return (
    <span
      className="inline-flex shrink-0"
      title={name ? `${trace.errorName}, error type: ${type}` : `Error type: ${type}`}
    >
      <Badge tone="bad">
        <span className="max-w-28 truncate">{name ?? type}</span>
      </Badge>
    </span>
  );
}
