/** What a group of failures reported, whom it affects, its traces, and marking it. */
import { Link } from "@tanstack/react-router";
import { BellOff, BellRing, Check, ListTree } from "lucide-react";
import { writeConditions } from "@/lib/conditions";
import { formatCount } from "@/lib/format";
import { writeList } from "@/lib/traceFilters";
import { TRIGGER } from "@/ui/overlayStyles";
import { RoleButton } from "@/ui/RoleButton";
import { Time } from "@/ui/Time";
import { UserLink } from "@/ui/UserLink";
import type { Failure, FailureStatus, Mark } from "./useFailures";

interface Props {
  failure: Failure;
  isBusy: boolean;
  onMark: (status: Mark) => void;
}

export function FailureDetails({ failure, isBusy, onMark }: Props) {
  const filters = writeConditions([{ field: "failure", op: "eq", value: failure.id }]);
  return (
    <div className="flex flex-col gap-3 px-4 pt-1 pb-4">
      <p
        role="region"
        tabIndex={0}
        aria-label="Message"
        className="max-h-60 overflow-auto rounded-md bg-raised p-2 font-mono text-sm [overflow-wrap:anywhere] whitespace-pre-wrap"
      >
        {failure.examples[0]?.message || failure.message || "No message was sent."}
      </p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1 text-sm">
        <dt className="text-muted">First seen</dt>
        <dd>
          <Time at={failure.firstSeenAt} as="full" />
        </dd>
        <dt className="text-muted">Last seen</dt>
        <dd>
          <Time at={failure.lastSeenAt} as="full" />
        </dd>
        {failure.userIds.length > 0 && (
          <>
            <dt className="text-muted">Users</dt>
            <dd className="flex flex-wrap gap-x-3">
              <Users failure={failure} />
            </dd>
          </>
        )}
        <dt className="text-muted">Example traces</dt>
        <dd>
          <Examples failure={failure} list={writeList({ filters })} />
        </dd>
      </dl>
      <div className="flex flex-wrap gap-2">
        <Link to="/traces" search={{ filters }} className={TRIGGER}>
          <ListTree className="size-3.5" aria-hidden />
          All its traces
        </Link>
        <Marks status={failure.status} isBusy={isBusy} onMark={onMark} />
      </div>
    </div>
  );
}

function Users({ failure: { userIds, users } }: { failure: Failure }) {
  return (
    <>
      {userIds.map((userId) => (
        <span key={userId} className="max-w-60 truncate text-accent">
          <UserLink userId={userId} />
        </span>
      ))}
      {users > userIds.length && (
        <span className="text-muted">and {formatCount(users - userIds.length)} more</span>
      )}
    </>
  );
}

/** The links open the failed span, and step through the traces of the group. */
function Examples({ failure, list }: { failure: Failure; list: string | undefined }) {
  return (
    <ul>
      {failure.examples.map(({ traceId, spanId, startTime, message }) => (
        <li key={traceId} className="flex gap-3">
          <Link
            to="/traces/$traceId"
            params={{ traceId }}
            search={{ span: spanId, list }}
            className="shrink-0 font-mono text-accent hover:underline"
          >
            {traceId.slice(0, 8)}
          </Link>
          <span className="shrink-0">
            <Time at={startTime} as="precise" />
          </span>
          <span className="truncate text-muted" title={message}>
            {message}
          </span>
        </li>
      ))}
    </ul>
  );
}

interface MarksProps extends Omit<Props, "failure"> {
  status: FailureStatus;
}

function Marks({ status, isBusy, onMark }: MarksProps) {
  return (
    <>
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
    </>
  );
}
