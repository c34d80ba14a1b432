/** One alert: the measured value, example traces and the history. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BellOff, Check, RotateCcw, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import {
  type Alert,
  describeFiring,
  describeLatest,
  severityTone,
  statusTone,
  tracesOf,
} from "@/lib/alerts";
import { api, unwrap } from "@/lib/api";
import { capitalize } from "@/lib/format";
import { useCan } from "@/lib/roles";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { CopyId } from "@/ui/Copy";
import { RoleButton } from "@/ui/RoleButton";
import { ErrorState, Skeleton } from "@/ui/states";
import { Time } from "@/ui/Time";
import { AlertChart } from "./AlertChart";
import { AlertHistory } from "./AlertHistory";
import { ExampleTraces } from "./ExampleTraces";
import { SilenceDialog } from "./SilenceDialog";

interface Props {
  id: string;
  onClose: () => void;
  onMove: (to: "acknowledge" | "reopen") => void;
  isBusy: boolean;
}

export function AlertDetail({ id, onClose, onMove, isBusy }: Props) {
  const can = useCan();
  const [isSilencing, setSilencing] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ["alerts", "one", id],
    queryFn: () =>
      unwrap(api.GET("/api/spans/alerts/{alertId}", { params: { path: { alertId: id } } })),
  });
  if (error) {
    return (
      <ErrorState error={error} onRetry={() => void refetch()}>
        <Button onClick={onClose}>Back to the list</Button>
      </ErrorState>
    );
  }
  if (!data) {
    return (
      <div className="flex flex-col gap-3 p-4">
        <Skeleton className="h-6 w-2/3" />
        <Skeleton className="h-20" />
        <Skeleton className="h-40" />
      </div>
    );
  }
  const isActive = data.status === "active";
  return (
    <div className="flex flex-col gap-5 p-4">
      <header>
        <div className="mb-2 flex items-center gap-2">
          <Badge tone={severityTone(data.severity)}>{data.severity}</Badge>
          <Badge tone={statusTone(data.status)}>{data.status}</Badge>
          {data.silencedUntil && <Badge>silenced</Badge>}
          <span className="ml-auto" />
          <CopyId id={data.id} />
          <Button
            kind="quiet"
            size="small"
            aria-label="Close"
            onClick={onClose}
            icon={<X className="size-4" />}
          />
        </div>
        <h2 className="text-lg font-semibold">{data.title}</h2>
        <p className="mt-1 text-muted">{data.description}</p>
      </header>
      <div className="flex flex-wrap gap-2">
        {isActive ? (
          <RoleButton
            needs="editor"
            kind="primary"
            busy={isBusy}
            onClick={() => onMove("acknowledge")}
            icon={<Check className="size-4" />}
          >
            Acknowledge
          </RoleButton>
        ) : (
          <RoleButton
            needs="editor"
            busy={isBusy}
            onClick={() => onMove("reopen")}
            icon={<RotateCcw className="size-3.5" />}
          >
            Reopen
          </RoleButton>
        )}
        <Link
          to={data.agentId ? "/agents/$agentId/rules" : "/alerts/rules/workspace"}
          params={{ agentId: data.agentId }}
          search={{ rule: data.ruleId }}
          className="inline-flex h-8 items-center rounded-md border border-line-strong bg-surface px-2.5 hover:bg-hover"
        >
          {can("editor") ? "Edit the rule" : "Show the rule"}
        </Link>
        <Link
          to="/traces"
          search={{ ...tracesOf(data), range: undefined }}
          className="inline-flex h-8 items-center rounded-md border border-line-strong bg-surface px-2.5 hover:bg-hover"
        >
          Traces in the window
        </Link>
        {data.failureId && (
          <Link
            to="/failures"
            search={{ failure: data.failureId }}
            className="inline-flex h-8 items-center rounded-md border border-line-strong bg-surface px-2.5 hover:bg-hover"
          >
            Show the failure
          </Link>
        )}
        {data.status !== "resolved" && (
          <RoleButton
            needs="editor"
            onClick={() => setSilencing(true)}
            icon={<BellOff className="size-3.5" />}
          >
            Silence
          </RoleButton>
        )}
      </div>
      <Facts alert={data} />
      <AlertChart alert={data} />
      <ExampleTraces ids={data.exampleTraceIds} />
      <AlertHistory alert={data} />
      {isSilencing && (
        <SilenceDialog
          scope={{
            agentId: data.agentId,
            ruleId: data.ruleId,
            agentName: data.agentName,
            ruleName: `the rule of “${data.title}”`,
          }}
          onClose={() => setSilencing(false)}
        />
      )}
    </div>
  );
}

function Facts({ alert }: { alert: Alert }) {
  const { value, note } = describeLatest(alert);
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
      <Fact name="Latest value">
        <span className="font-medium">{value}</span> <span className="text-muted">{note}</span>
      </Fact>
      <Fact name="Agent">
        {alert.agentId ? (
          <Link
            to="/agents/$agentId"
            params={{ agentId: alert.agentId }}
            className="text-accent hover:underline"
          >
            {alert.agentName}
          </Link>
        ) : (
          alert.agentName
        )}
      </Fact>
      {alert.silencedUntil && (
        <Fact name="Silenced until">
          <Time at={alert.silencedUntil} as="full" />
        </Fact>
      )}
      <Fact name="Since">
        <Time at={alert.triggeredAt} as="full" />
      </Fact>
      <Fact name="Duration">{capitalize(describeFiring(alert))}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
