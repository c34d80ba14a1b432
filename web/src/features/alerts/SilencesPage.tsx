/** Times in which notifications are muted: the active ones, then those that are over. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { BellOff, Plus } from "lucide-react";
import { useState } from "react";
import { api, type Schemas, unwrap, unwrapPage } from "@/lib/api";
import { usePersonName } from "@/lib/personName";
import { silencesQuery, useFilterValues } from "@/lib/queries";
import { Badge } from "@/ui/Badge";
import { MenuItem, MenuLine } from "@/ui/Menu";
import { RoleButton } from "@/ui/RoleButton";
import { RoleMenu } from "@/ui/RoleMenu";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { toast } from "@/ui/Toast";
import { AlertsTitle } from "./AlertsTitle";
import { SilenceDialog, type SilenceScope } from "./SilenceDialog";

type Silence = Schemas["Silence"];

export default function SilencesPage() {
  const [scope, setScope] = useState<SilenceScope | null>(null);
  const list = useQuery(silencesQuery);
  const values = useFilterValues();
  // Names the rules of silences.
  const rules = useQuery({
    queryKey: ["alerts", "rules", "names"],
    queryFn: () => unwrapPage(api.GET("/api/alerts/rules", { params: { query: { limit: 100 } } })),
  });
  const nameOf = ({ agentId, ruleId }: Silence) => {
    if (!agentId && !ruleId) return "Whole workspace";
    const entries = rules.data?.items ?? [];
    const agent =
      values.data?.agents.find((one) => one.id === agentId)?.name ??
      entries.find((one) => one.agentId === agentId)?.agentName ??
      agentId;
    if (!ruleId) return agent;
    const rule = entries.find((one) => one.agentId === agentId && one.rule.id === ruleId)?.rule;
    return `${rule?.name ?? ruleId} (${agent ?? "All agents"})`;
  };
  return (
    <div className="flex h-full flex-col">
      <AlertsTitle page="/alerts/silences" actions={<AddSilence onChoose={setScope} />} />
      <div className="min-h-0 flex-1 overflow-auto border-t" tabIndex={0}>
        {list.isPending && <SkeletonRows rows={4} />}
        {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.data?.items.length === 0 && (
          <EmptyState icon={<BellOff className="size-6" />} title="No silences">
            Mute notifications during maintenance, or while a known problem is being fixed: of a
            rule in the list of rules, of an agent or of the whole workspace here.
          </EmptyState>
        )}
        <ul aria-label="Silences">
          {list.data?.items.map((one) => (
            <SilenceRow key={one.id} silence={one} name={nameOf(one) ?? ""} />
          ))}
        </ul>
      </div>
      {scope && <SilenceDialog scope={scope} onClose={() => setScope(null)} />}
    </div>
  );
}

/** Chooses the agent, or the workspace, whose notifications are muted. */
function AddSilence({ onChoose }: { onChoose: (scope: SilenceScope) => void }) {
  const { data } = useFilterValues();
  // A new agent has no id until it is in the catalog.
  const agents = (data?.agents ?? []).flatMap(({ id, name }) => (id ? [{ id, name }] : []));
  return (
    <RoleMenu
      needs="editor"
      align="end"
      ariaLabel="Add a silence"
      label={
        <>
          <Plus className="size-4" />
          Silence
        </>
      }
    >
      <MenuItem onClick={() => onChoose({ agentId: null, ruleId: null, agentName: null })}>
        The whole workspace
      </MenuItem>
      {agents.length > 0 && <MenuLine />}
      {agents.map(({ id, name }) => (
        <MenuItem key={id} onClick={() => onChoose({ agentId: id, ruleId: null, agentName: name })}>
          {name}
        </MenuItem>
      ))}
    </RoleMenu>
  );
}

function SilenceRow({ silence, name }: { silence: Silence; name: string }) {
  const queries = useQueryClient();
  const person = usePersonName();
  const isActive = new Date(silence.endsAt) > new Date();
  const end = useMutation({
    mutationFn: () =>
      unwrap(
        api.DELETE("/api/alerts/silences/{silenceId}", {
          params: { path: { silenceId: silence.id } },
        }),
      ),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["alerts"] });
      toast("The silence has ended.", "good");
    },
    onError: (error) => toast(error.message, "bad"),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b px-4 py-2">
      <Badge tone={isActive ? "warning" : undefined}>{isActive ? "active" : "over"}</Badge>
      <span className="min-w-0 flex-1 basis-64">
        <span className="block font-medium">{name}</span>
        <span className="block text-sm text-muted">
          {silence.reason ?? "No reason given"} · {person(silence.createdBy)}
        </span>
      </span>
      <span className="text-sm text-muted">
        <Time at={silence.startsAt} as="precise" /> to <Time at={silence.endsAt} as="precise" />
      </span>
      {isActive && (
        <RoleButton needs="editor" size="small" busy={end.isPending} onClick={() => end.mutate()}>
          End now
        </RoleButton>
      )}
    </li>
  );
}
