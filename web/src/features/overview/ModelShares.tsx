/** Costs by model and tool, and how many tokens have no price. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/lib/api";
import { colourOf } from "@/lib/colours";
import { formatCompact, formatCost, formatCounted, formatPercent } from "@/lib/format";
import { COST_BY_MODEL } from "@/lib/overviewPanels";
import { Badge, Dot } from "@/ui/Badge";
import { type Bar, BarList } from "@/ui/BarList";
import { Panel } from "@/ui/Panel";
import { QueryResult } from "@/ui/states";
import { HEIGHT, useTraces } from "./distributions";
import { ExploreLink } from "./ExploreLink";
import { useCosts } from "./queries";

const SHOWN = 6;

export function ModelShares() {
  const open = useTraces();
  const costs = useCosts();
  return (
    <Panel
      title="Cost by model"
      unit={<span className="max-sm:hidden">USD</span>}
      actions={<ExploreLink panel={COST_BY_MODEL} step="daily" />}
    >
      <QueryResult query={costs} height={HEIGHT}>
        {({ byModel, byTool, totalCost }) => {
          const models = Object.entries(byModel).map(([name, cost]) => ({ name, cost, tool: "" }));
          const tools = Object.entries(byTool).map(([tool, cost]) => ({
            name: `${tool} (tool)`,
            cost,
            tool,
          }));
          const parts = [...models, ...tools].sort((a, b) => b.cost - a.cost);
          const others = parts.slice(SHOWN);
          const bars: Bar[] = parts.slice(0, SHOWN).map(({ name, cost, tool }) => ({
            key: name,
            label: (
              <span className="flex min-w-0 items-center gap-1.5" title={name}>
                <Dot colour={colourOf(tool ? "tool" : "model", tool || name)} />
                <span className="truncate">{name}</span>
              </span>
            ),
            value: cost,
            shown: formatCost(cost),
            note: formatPercent(totalCost ? cost / totalCost : 0),
            colour: colourOf(tool ? "tool" : "model", tool || name),
            onClick: () =>
              open(
                tool
                  ? { field: "tool", op: "eq", value: tool }
                  : { field: "model", op: "eq", value: name },
              ),
          }));
          if (others.length > 0) {
            const cost = others.reduce((sum, one) => sum + one.cost, 0);
            bars.push({
              key: "others",
              label: `${others.length} others`,
              value: cost,
              shown: formatCost(cost),
              note: formatPercent(totalCost ? cost / totalCost : 0),
              colour: "var(--series-other)",
            });
          }
          return <BarList bars={bars} />;
        }}
      </QueryResult>
      {costs.data && <Unpriced costs={costs.data} />}
    </Panel>
  );
}

/** Opens the price form of the model with the most tokens without a price. */
function Unpriced({ costs }: { costs: Schemas["Costs"] }) {
  const { unpricedTokens: tokens, unpricedTokensByModel: byModel, unpricedModels: models } = costs;
  if (tokens === 0 && models.length === 0) return null;
  const [first] = models.toSorted((a, b) => (byModel[b] ?? 0) - (byModel[a] ?? 0));
  return (
    <Link
      to="/models"
      search={first ? { model: first } : {}}
      className="mt-2 block"
      title={models.length ? `No price for ${models.join(", ")}` : "Calls without a model"}
    >
      <Badge tone="warning">
        {tokens
          ? `${formatCompact(tokens)} ${tokens === 1 ? "token has" : "tokens have"}`
          : `${formatCounted(models.length, "model")} ${models.length === 1 ? "has" : "have"}`}{" "}
        no price
      </Badge>
    </Link>
  );
}
