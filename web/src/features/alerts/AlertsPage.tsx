/** The alert inbox; every action has a key. */

import { BellRing } from "lucide-react";
import { useMemo } from "react";
import type { Alert } from "@/lib/alerts";
import { useAlertSummary } from "@/lib/queries";
import { useCan } from "@/lib/roles";
import { type Shortcut, useShortcuts } from "@/lib/shortcuts";
import { useSetUrl, useUrl, useUrlState } from "@/lib/url";
import { Kbd } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { Select } from "@/ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Tabs } from "@/ui/Tabs";
import { AlertDetail } from "./AlertDetail";
import { AlertRow } from "./AlertRow";
import { AlertsTitle } from "./AlertsTitle";
import { useAlerts, useChangeStatus } from "./useAlerts";

export default function AlertsPage() {
  const [status, setStatus] = useUrlState("status", "");
  const [severity, setSeverity] = useUrlState("severity", "");
  const { alert: openId, agent } = useUrl();
  const setUrl = useSetUrl();
  const summary = useAlertSummary();
  const list = useAlerts();
  const move = useChangeStatus();
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const at = rows.findIndex((row) => row.id === openId);
  const open = (alert: Alert | undefined) => setUrl({ alert: alert?.id });
  const current = rows[at];
  const isEditor = useCan()("editor");
  const edits: Shortcut[] = [
    {
      keys: "a",
      what: "Acknowledge alert",
      run: () => {
        const target = current ?? rows.find((row) => row.status === "active");
        if (target?.status === "active") move.mutate({ id: target.id, to: "acknowledge" });
      },
    },
    {
      keys: "o",
      what: "Reopen alert",
      run: () => {
        if (current && current.status !== "active") move.mutate({ id: current.id, to: "reopen" });
      },
    },
  ];
  useShortcuts([
    { keys: "j", what: "Next alert", run: () => open(rows[Math.min(at + 1, rows.length - 1)]) },
    { keys: "k", what: "Previous alert", run: () => open(rows[Math.max(at - 1, 0)]) },
    ...(isEditor ? edits : []),
    { keys: "Escape", what: "Close alert", run: () => open(undefined) },
  ]);
  const isFiltered = Boolean(status || severity || agent);
  return (
    <div className="flex h-full flex-col">
      <AlertsTitle page="/alerts" />
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
          <span className="flex items-center gap-1.5 text-sm text-muted max-xl:hidden">
            <Kbd>j</Kbd>
            <Kbd>k</Kbd> next, previous
            {isEditor && (
              <>
                <Kbd>a</Kbd> acknowledge <Kbd>o</Kbd> reopen
              </>
            )}
          </span>
          <Select
            aria-label="Severity"
            value={severity}
            onChange={setSeverity}
            options={[
              { value: "", label: "All severities" },
              { value: "critical", label: "Critical" },
              { value: "warning", label: "Warning" },
              { value: "info", label: "Info" },
            ]}
          />
        </div>
      </div>
      <div className="flex min-h-0 flex-1">
        <div
          className={cx("@container min-w-0 flex-1 overflow-auto", openId && "max-lg:hidden")}
          tabIndex={0}
        >
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
        title="No alerts match"
        action={
          <Button
            onClick={() => setUrl({ status: undefined, severity: undefined, agent: undefined })}
          >
            Show all alerts
          </Button>
        }
      >
        No alert matches these filters.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={<BellRing className="size-6" />} title="No alerts">
      Alerts are raised by rules. Add one under Rules, for example for an error rate above 5% over
      ten minutes.
    </EmptyState>
  );
}
