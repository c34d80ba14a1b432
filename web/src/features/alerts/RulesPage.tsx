/** All alert rules: those of the workspace, and those of every agent. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { BellOff, ListChecks, Plus } from "lucide-react";
import { useState } from "react";
import { describeRule, severityTone, statusTone } from "@/lib/alerts";
import { api, type Schemas, unwrapPage } from "@/lib/api";
import { useFilterValues } from "@/lib/queries";
import { Badge } from "@/ui/Badge";
import { Button } from "@/ui/Button";
import { MenuItem, MenuLine } from "@/ui/Menu";
import { RoleButton } from "@/ui/RoleButton";
import { RoleMenu } from "@/ui/RoleMenu";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { AlertsTitle } from "./AlertsTitle";
import { SilenceDialog, type SilenceScope } from "./SilenceDialog";

type Entry = Schemas["RuleEntry"];
const PAGE = 100;
const WORKSPACE = "/alerts/rules/workspace";

export default function RulesPage() {
  const [scope, setScope] = useState<SilenceScope | null>(null);
  const list = useInfiniteQuery({
    queryKey: ["alerts", "rules"],
    queryFn: ({ pageParam }) =>
      unwrapPage(
        api.GET("/api/alerts/rules", { params: { query: { limit: PAGE, skip: pageParam } } }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
  });
  const rows = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="flex h-full flex-col">
      <AlertsTitle page="/alerts/rules" actions={<AddRule />} />
      <div className="min-h-0 flex-1 overflow-auto border-t" tabIndex={0}>
        {list.isPending && <SkeletonRows rows={8} />}
        {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isSuccess && rows.length === 0 && (
          <EmptyState icon={<ListChecks className="size-6" />} title="No alert rules yet">
            A rule raises an alert when errors, latency, cost, traffic, a signal or any query cross
            a threshold, for one agent or for all of them. Add one above.
          </EmptyState>
        )}
        <ul aria-label="Alert rules">
          {rows.map((entry) => (
            <RuleRow
              key={`${entry.agentId} ${entry.rule.id}`}
              entry={entry}
              onSilence={() =>
                setScope({
                  agentId: entry.agentId,
                  ruleId: entry.rule.id ?? null,
                  agentName: entry.agentName,
                  ruleName: `${entry.rule.name ?? "Rule"} (${entry.agentName})`,
                })
              }
            />
          ))}
        </ul>
        {list.hasNextPage && (
          <div className="p-3 text-center">
            <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              More rules
            </Button>
          </div>
        )}
      </div>
      {scope && <SilenceDialog scope={scope} onClose={() => setScope(null)} />}
    </div>
  );
}

/** Opens the editor of the chosen agent, or of the workspace, with a new rule. */
function AddRule() {
  const navigate = useNavigate();
  const { data } = useFilterValues();
  const open = (to: string) =>
    void navigate({
      to,
      search: (before) => ({ ...before, rule: "new" }),
    });
  const agents = data?.agents ?? [];
  return (
    <RoleMenu
      needs="editor"
      align="end"
      ariaLabel="Add a rule"
      label={
        <>
          <Plus className="size-4" />
          Rule
        </>
      }
    >
      <MenuItem onClick={() => open(WORKSPACE)}>All agents</MenuItem>
      {agents.length > 0 && <MenuLine />}
      {agents.map(({ id, name }) => (
        <MenuItem
          key={id ?? name}
          onClick={() => open(`/agents/${encodeURIComponent(id ?? name)}/rules`)}
        >
          {name}
        </MenuItem>
      ))}
    </RoleMenu>
  );
}

function RuleRow({ entry, onSilence }: { entry: Entry; onSilence: () => void }) {
  const { rule, agentId, agentName } = entry;
  const to = agentId === null ? WORKSPACE : "/agents/$agentId/rules";
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-4 py-2 hover:bg-hover">
      <span className="min-w-0 flex-1 basis-64">
        <Link
          to={to}
          params={{ agentId }}
          search={(before) => ({ ...before, rule: rule.id ?? undefined })}
          className="font-medium hover:underline"
        >
          {rule.name || "Rule"}
        </Link>
        <span className="block text-sm text-muted">{describeRule(rule)}</span>
      </span>
      <span className="w-36 truncate" title={agentName}>
        {agentName}
      </span>
      <span className="flex w-28 gap-1.5">
        <Badge tone={severityTone(rule.severity)}>{rule.severity}</Badge>
        {!entry.enabled && <Badge>off</Badge>}
      </span>
      <span className="w-44 text-sm text-muted">
        {entry.lastAlertId && entry.lastAlertAt && entry.lastAlertStatus ? (
          <Link
            to="/alerts"
            search={{ alert: entry.lastAlertId }}
            className="flex items-center gap-1.5 hover:underline"
          >
            <Badge tone={statusTone(entry.lastAlertStatus)}>{entry.lastAlertStatus}</Badge>
            <Time at={entry.lastAlertAt} />
          </Link>
        ) : (
          "No alert yet"
        )}
      </span>
      <span className="ml-auto">
        <RoleButton
          needs="editor"
          size="small"
          kind="quiet"
          aria-label="Silence"
          onClick={onSilence}
          icon={<BellOff className="size-3.5" />}
        />
      </span>
    </li>
  );
}
