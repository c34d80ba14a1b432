/** Spans by tool, model or kind: how many, how slow, how often they fail, and what they cost. */
import { useSetUrl, useUrlState } from "@/lib/url";
import { ListTitle } from "@/ui/Panel";
import { Tabs } from "@/ui/Tabs";
import { GROUPINGS, TOOLS } from "./groupings";
import { SpanGroups } from "./SpanGroups";

export default function SpansPage() {
  const setUrl = useSetUrl();
  const [tab] = useUrlState("tab", TOOLS.id);
  const grouping = GROUPINGS.find((one) => one.id === tab) ?? TOOLS;
  return (
    <div className="flex h-full flex-col">
      <ListTitle>Spans</ListTitle>
      <Tabs
        label="Group spans by"
        value={grouping.id}
        onChange={(id) =>
          setUrl({ tab: id === TOOLS.id ? undefined : id, sort: undefined, order: undefined })
        }
        tabs={GROUPINGS.map(({ id, label }) => ({ id, label }))}
      />
      <div role="tabpanel" aria-label={grouping.label} className="flex min-h-0 flex-1 flex-col">
        <SpanGroups grouping={grouping} page="spans" />
      </div>
    </div>
  );
}
