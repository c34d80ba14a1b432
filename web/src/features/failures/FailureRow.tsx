import { colourOf } from "@/lib/colours";
import { formatCompact, formatCount } from "@/lib/format";
import { Badge, Dot, type Tone } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { Sparkline } from "@/ui/Sparkline";
import { Time } from "@/ui/Time";
import { FailureDetails } from "./FailureDetails";
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
          <span className="flex items-start gap-2">
            <Badge tone={TONES[failure.status]}>{failure.status}</Badge>
            <span
              className={cx("min-w-0 md:truncate", failure.status !== "muted" && "font-medium")}
            >
              {failure.title}
            </span>
          </span>
          <span className="mt-0.5 flex flex-wrap items-center gap-x-1.5 text-sm text-muted md:flex-nowrap">
            <Dot colour={colourOf("agent", failure.agentName)} />
            <span className="truncate">{failure.agentName}</span>
            <span aria-hidden>·</span>
            <span className="truncate">{failure.errorType}</span>
            <span aria-hidden className="max-md:hidden">
              ·
            </span>
            <span className="whitespace-nowrap max-md:basis-full">
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
      {isOpen && <FailureDetails failure={failure} isBusy={isBusy} onMark={onMark} />}
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
