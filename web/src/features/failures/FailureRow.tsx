import { Link } from "@tanstack/react-router";
import { BellOff, BellRing, Check } from "lucide-react";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCount } from "@/lib/format";
import { Badge, Dot, type Tone } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { RoleButton } from "@/ui/RoleButton";
import { Sparkline } from "@/ui/Sparkline";
import { Time } from "@/ui/Time";
import type { Failure, FailureStatus, Mark } from "./useFailures";

const TONES: Record<FailureStatus, Tone> = {
  new: "bad",
  regressed: "warning",
  known: "neutral",
  muted: "neutral",
};

interface Props {
  failure: Failure;
  isOpen: boolean;
  isBusy: boolean;
  onOpen: () => void;
  onMark: (status: Mark) => void;
}

export function FailureRow({ failure, isOpen, isBusy, onOpen, onMark }: Props) {
  return (
    <li className={cx("border-b", isOpen && "bg-surface")}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onOpen}
        className="flex w-full min-w-0 items-center gap-4 px-4 py-2 text-left hover:bg-hover"
      >
        <span className="min-w-0 flex-1">
          <span className="flex items-center gap-2">
            <Badge tone={TONES[failure.status]}>{failure.status}</Badge>
            <span className={cx("truncate", failure.status !== "muted" && "font-medium")}>
              {failure.title}
            </span>
          </span>
          <span className="mt-0.5 flex items-center gap-1.5 text-sm text-muted">
            <Dot colour={colourOf(failure.agentName)} />
            <span className="truncate">{failure.agentName}</span>
            <span aria-hidden>·</span>
            <span className="truncate">{failure.errorType}</span>
            <span aria-hidden>·</span>
            <span className="whitespace-nowrap">
              last seen <Time at={failure.lastSeenAt} />
            </span>
          </span>
        </span>
        <span className="w-36 shrink-0 max-lg:hidden">
          <Sparkline
            values={failure.trend.map((point) => point.count)}
            colour="var(--bad)"
            width={144}
          />
        </span>
        <Figure noun="failure" value={failure.count} />
        <span className="max-md:hidden">
          <Figure noun="trace" value={failure.traces} />
        </span>
        <span className="max-sm:hidden">
          <Figure noun="user" value={failure.users} />
        </span>
      </button>
      {isOpen && <Details failure={failure} isBusy={isBusy} onMark={onMark} />}
    </li>
  );
}

function Figure({ noun, value }: { noun: string; value: number }) {
  return (
    <span className="block w-16 shrink-0 text-right" title={formatCount(value)}>
      <span className="block font-medium">{formatCompact(value)}</span>
      <span className="block text-sm text-muted">{value === 1 ? noun : `${noun}s`}</span>
    </span>
  );
}

type DetailsProps = Pick<Props, "failure" | "isBusy" | "onMark">;

function Details({ failure, isBusy, onMark }: DetailsProps) {
  const { status } = failure;
  return (
    <div className="flex flex-col gap-3 px-4 pt-1 pb-4">
      <p className="rounded-md bg-raised p-2 font-mono text-sm [overflow-wrap:anywhere]">
        {failure.message || "No message was sent."}
      </p>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1 text-sm">
        <dt className="text-muted">First seen</dt>
        <dd>
          <Time at={failure.firstSeenAt} as="full" />
        </dd>
        <dt className="text-muted">Last seen</dt>
        <dd>
          <Time at={failure.lastSeenAt} as="full" />
        </dd>
        <dt className="text-muted">Example traces</dt>
        <dd className="flex flex-wrap gap-x-3">
          {failure.exampleTraceIds.map((traceId) => (
            <Link
              key={traceId}
              to="/traces/$traceId"
              params={{ traceId } as never}
              className="font-mono text-accent hover:underline"
            >
              {traceId.slice(0, 8)}
            </Link>
          ))}
        </dd>
      </dl>
      <div className="flex flex-wrap gap-2">
        {(status === "new" || status === "regressed") && (
          <RoleButton
            needs="editor"
            busy={isBusy}
            onClick={() => onMark("known")}
            icon={<Check className="size-3.5" />}
          >
            Mark as known
          </RoleButton>
        )}
        {status === "muted" ? (
          <RoleButton
            needs="editor"
            busy={isBusy}
            onClick={() => onMark("known")}
            icon={<BellRing className="size-3.5" />}
          >
            Unmute
          </RoleButton>
        ) : (
          <RoleButton
            needs="editor"
            busy={isBusy}
            onClick={() => onMark("muted")}
            icon={<BellOff className="size-3.5" />}
          >
            Mute
          </RoleButton>
        )}
      </div>
    </div>
  );
}
