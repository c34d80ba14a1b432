import type { Trace } from "@/lib/api";
import { errorTypeLabel, shortErrorName } from "@/lib/errors";
import { Badge } from "./Badge";

/** What a trace or a span failed with: the name of the exception, else the type of the error. */
export function ErrorBadge({ of }: { of: Pick<Trace, "errorType" | "errorName"> }) {
  const type = errorTypeLabel(of.errorType);
  const name = shortErrorName(of.errorName, of.errorType);
  return (
    <span
      className="inline-flex shrink-0"
      title={name ? `${of.errorName}, error type: ${type}` : `Error type: ${type}`}
    >
      <Badge tone="bad">
        <span className="max-w-28 truncate">{name ?? type}</span>
      </Badge>
    </span>
  );
}
