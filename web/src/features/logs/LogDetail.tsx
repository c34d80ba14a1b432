import { Link } from "@tanstack/react-router";
import type { Log } from "@/lib/api";
import { Badge } from "@/ui/Badge";
import { CopyButton } from "@/ui/Copy";
import { JsonView } from "@/ui/JsonView";
import { Time } from "@/ui/Time";
import { LEVEL_TONES } from "./columns";

/** One log line with its attributes. */
export function LogDetail({ log }: { log: Log }) {
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={LEVEL_TONES[log.level]}>{log.level}</Badge>
        <Time at={log.timestamp} as="full" />
        {log.traceId && (
          <Link
            to="/traces/$traceId"
            params={{ traceId: log.traceId }}
            className="ml-auto text-accent hover:underline"
          >
            Open the trace
          </Link>
        )}
      </div>
      <div className="relative rounded-md border bg-bg p-3 pr-10">
        <pre className="font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap">
          {log.message}
        </pre>
        <span className="absolute top-1.5 right-1.5">
          <CopyButton text={log.message} label="Copy message" />
        </span>
      </div>
      <JsonView
        value={{
          agent: log.agentName,
          traceId: log.traceId,
          spanId: log.spanId,
          attributes: log.attributes,
        }}
      />
    </div>
  );
}
