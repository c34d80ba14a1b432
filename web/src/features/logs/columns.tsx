/** The columns of the log list. */
import { Link } from "@tanstack/react-router";
import type { Log } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { Badge, Dot, type Tone } from "@/ui/Badge";
import type { Column } from "@/ui/Table";
import { Time } from "@/ui/Time";

export const LEVEL_TONES: Record<Log["level"], Tone> = {
  trace: "neutral",
  debug: "neutral",
  info: "info",
  warn: "warning",
  error: "bad",
  fatal: "bad",
};

// The message is third because a phone shows only the first columns.
export const COLUMNS: Column<Log>[] = [
  {
    id: "time",
    header: "Time",
    width: "8.5rem",
    cell: (log) => <Time at={log.timestamp} as="precise" />,
  },
  {
    id: "level",
    header: "Level",
    width: "4.5rem",
    cell: (log) => <Badge tone={LEVEL_TONES[log.level]}>{log.level}</Badge>,
  },
  {
    id: "message",
    header: "Message",
    width: "minmax(16rem, 1fr)",
    cell: (log) => <span title={log.message}>{log.message}</span>,
  },
  {
    id: "agent",
    header: "Agent",
    width: "11rem",
    cell: (log) =>
      log.agentName && (
        <span className="flex items-center gap-1.5">
          <Dot colour={colourOf("agent", log.agentName)} />
          <span className="truncate">{log.agentName}</span>
        </span>
      ),
  },
  {
    id: "trace",
    header: "",
    width: "3.5rem",
    cell: (log) =>
      log.traceId && (
        <Link
          to="/traces/$traceId"
          params={{ traceId: log.traceId }}
          search={log.spanId ? { span: log.spanId } : {}}
          onClick={(event) => event.stopPropagation()}
          className="text-accent hover:underline"
        >
          Trace
        </Link>
      ),
  },
];
