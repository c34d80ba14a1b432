/** An inbox: what, where, since when, how bad, against what; one key to take it on. */
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { BellRing, Check, RotateCcw } from "lucide-react";
import { useMemo } from "react";
import { type Alert, against, METRICS, severityTone, statusTone } from "@/lib/alerts";
import { api, unwrap, unwrapPage } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCount } from "@/lib/format";
import { useAlertSummary } from "@/lib/queries";
import { useShortcuts } from "@/lib/shortcuts";
import { useSetUrl, useUrl, useUrlState } from "@/lib/url";
import { Badge, Dot, Kbd } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { Select } from "@/ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Tabs } from "@/ui/Tabs";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";
import { AlertDetail } from "./AlertDetail";

const PAGE = 50;

function useAlerts() {
  const { status, severity, agent } = useUrl();
  return useInfiniteQuery({
    queryKey: ["alerts", "list", status, severity, agent],
    queryFn: ({ pageParam }) =>
      unwrapPage(
        api.GET("/api/spans/alerts", {
          params: {
            query: {
              status: (status || undefined) as Alert["status"] | undefined,
              severity: (severity || undefined) as Alert["severity"] | undefined,
              agentId: agent,
              limit: PAGE,
              skip: pageParam,
            },
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
    refetchInterval: 30_000,
  });
}

function useMove() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, to }: { id: string; to: "acknowledge" | "reopen" }) =>
      unwrap(
        to === "acknowledge"
          ? api.PUT("/api/spans/alerts/{alertId}/acknowledge", {
              params: { path: { alertId: id } },
            })
          : api.PUT("/api/spans/alerts/{alertId}/reopen", { params: { path: { alertId: id } } }),
      ),
    onSuccess: (alert) => {
      void queries.invalidateQueries({ queryKey: ["alerts"] });
      toast(alert.status === "active" ? "Reopened." : "Acknowledged.", "good");
    },
    onError: (error) => toast(error.message, "bad"),
  });
}

export default function AlertsPage() {
  const [status, setStatus] = useUrlState("status", "");
  const [severity, setSeverity] = useUrlState("severity", "");
  const { alert: openId, agent } = useUrl();
  const setUrl = useSetUrl();
  const summary = useAlertSummary();
  const list = useAlerts();
  const move = useMove();
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const at = rows.findIndex((row) => row.id === openId);
  const open = (alert: Alert | undefined) => setUrl({ alert: alert?.id });
  const current = rows[at];
  useShortcuts([
    { keys: "j", what: "Next alert", run: () => open(rows[Math.min(at + 1, rows.length - 1)]) },
    { keys: "k", what: "Previous alert", run: () => open(rows[Math.max(at - 1, 0)]) },
    {
      keys: "a",
      what: "Acknowledge the alert",
      run: () => {
        const target = current ?? rows.find((row) => row.status === "active");
        if (target?.status === "active") move.mutate({ id: target.id, to: "acknowledge" });
      },
    },
    {
      keys: "o",
      what: "Reopen the alert",
      run: () => {
        if (current && current.status !== "active") move.mutate({ id: current.id, to: "reopen" });
      },
    },
    { keys: "Escape", what: "Close the alert", run: () => open(undefined) },
  ]);
  const isFiltered = Boolean(status || severity || agent);
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Alerts</h1>
      <div className="flex flex-wrap items-end gap-x-3 border-b bg-bg pr-3">
        <div className="-mb-px min-w-0 flex-1">
          <Tabs
            label="Status"
            value={status || "all"}
            onChange={(id) => setStatus(id === "all" ? "" : id)}
            tabs={[
              { id: "all", label: "All", count: summary.data?.total },
              { id: "active", label: "Active", count: summary.data?.active },
              { id: "acknowledged", label: "Acknowledged", count: summary.data?.acknowledged },
              { id: "resolved", label: "Resolved", count: summary.data?.resolved },
            ]}
          />
        </div>
        <div className="flex items-center gap-2 py-1.5 max-md:w-full max-md:px-3">
          <span className="flex items-center gap-1.5 text-sm text-muted max-lg:hidden">
            <Kbd>j</Kbd>
            <Kbd>k</Kbd> walk <Kbd>a</Kbd> acknowledge <Kbd>o</Kbd> reopen
          </span>
          <Select
            aria-label="Severity"
            value={severity}
            onChange={setSeverity}
            options={[
              { value: "", label: "Any severity" },
              { value: "critical", label: "Critical" },
              { value: "warning", label: "Warning" },
              { value: "info", label: "Info" },
            ]}
          />
        </div>
      </div>
      <div className="flex min-h-0 flex-1">
        <div className={cx("min-w-0 flex-1 overflow-auto", openId && "max-lg:hidden")} tabIndex={0}>
          {list.isPending && <SkeletonRows rows={8} />}
          {list.isError && rows.length === 0 && (
            <ErrorState error={list.error} onRetry={() => void list.refetch()} />
          )}
          {list.isSuccess && rows.length === 0 && <NoAlerts isFiltered={isFiltered} />}
          <ul aria-label="Alerts">
            {rows.map((alert) => (
              <AlertRow
                key={alert.id}
                alert={alert}
                isOpen={alert.id === openId}
                onOpen={() => open(alert.id === openId ? undefined : alert)}
                onMove={(to) => move.mutate({ id: alert.id, to })}
                isBusy={move.isPending && move.variables.id === alert.id}
              />
            ))}
          </ul>
          {list.hasNextPage && (
            <div className="p-3 text-center">
              <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                Older alerts
              </Button>
            </div>
          )}
        </div>
        {openId && (
          <aside
            aria-label="Alert"
            className="w-full shrink-0 overflow-auto border-l bg-surface lg:w-[30rem] max-lg:border-l-0"
          >
            <AlertDetail
              key={openId}
              id={openId}
              onClose={() => open(undefined)}
              onMove={(to) => move.mutate({ id: openId, to })}
              isBusy={move.isPending}
            />
          </aside>
        )}
      </div>
    </div>
  );
}

function NoAlerts({ isFiltered }: { isFiltered: boolean }) {
  const setUrl = useSetUrl();
  if (isFiltered) {
    return (
      <EmptyState
        icon={<BellRing className="size-6" />}
        title="No such alert"
        action={
          <Button
            onClick={() => setUrl({ status: undefined, severity: undefined, agent: undefined })}
          >
            Show all alerts
          </Button>
        }
      >
        Nothing matches these filters.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<BellRing className="size-6" />} title="All is quiet">
      Alerts come from rules: open an agent and say what should wake you, for example an error rate
      above 5 % over ten minutes.
    </EmptyState>
  );
}

interface RowProps {
  alert: Alert;
  isOpen: boolean;
  isBusy: boolean;
  onOpen: () => void;
  onMove: (to: "acknowledge" | "reopen") => void;
}

function AlertRow({ alert, isOpen, isBusy, onOpen, onMove }: RowProps) {
  const isActive = alert.status === "active";
  return (
    <li
      className={cx(
        "flex items-center gap-3 border-b border-l-2 pr-3",
        isOpen ? "bg-accent-soft" : "hover:bg-hover",
        isActive ? "border-l-bad" : "border-l-transparent",
      )}
    >
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onOpen}
        className="flex min-w-0 flex-1 items-center gap-3 py-2 pl-3 text-left"
      >
        <span className="flex w-[4.5rem] shrink-0 max-md:hidden">
          <Badge tone={severityTone(alert.severity)}>{alert.severity}</Badge>
        </span>
        <span className="min-w-0 flex-1">
          <span className={cx("block md:truncate", isActive && "font-medium")}>{alert.title}</span>
          <span className="flex items-center gap-1.5 text-sm text-muted">
            <Dot colour={colourOf(alert.agentName)} />
            <span className="truncate">{alert.agentName}</span>
            <span aria-hidden>·</span>
            <Time at={alert.triggeredAt} />
            {alert.occurrences > 1 && (
              <span className="max-md:hidden">· seen {formatCount(alert.occurrences)} times</span>
            )}
          </span>
        </span>
        <span className="hidden w-36 shrink-0 text-right xl:block">
          <span className={cx("block font-medium", isActive && "text-bad")}>
            {METRICS[alert.metric].format(alert.value)}
          </span>
          <span className="block text-sm text-muted">{against(alert)}</span>
        </span>
        <span className="flex w-28 shrink-0 justify-end max-md:hidden">
          <Badge tone={statusTone(alert.status)}>{alert.status}</Badge>
        </span>
      </button>
      {isActive ? (
        <Button
          size="small"
          busy={isBusy}
          aria-label="Acknowledge"
          onClick={() => onMove("acknowledge")}
          icon={<Check className="size-3.5" />}
        />
      ) : (
        <Button
          size="small"
          kind="quiet"
          busy={isBusy}
          aria-label="Reopen"
          onClick={() => onMove("reopen")}
          icon={<RotateCcw className="size-3.5" />}
        />
      )}
    </li>
  );
}
