/** Spans by tool, model or kind, and one by one: how many, how slow, how often they fail, their cost. */
import { useSetUrl, useUrlState } from "@/lib/url";
import { ListTitle } from "@/ui/Panel";
import { Tabs } from "@/ui/Tabs";
import { GROUPINGS, TOOLS } from "./groupings";
import { SpanGroups } from "./SpanGroups";
import { SpanList } from "./SpanList";

const LIST = { id: "list", label: "Single spans" };

export default function SpansPage() {
  const setUrl = useSetUrl();
  const [tab] = useUrlState("tab", TOOLS.id);
  const grouping = GROUPINGS.find((one) => one.id === tab) ?? TOOLS;
  const isList = tab === LIST.id;
  return (
    <div className="flex h-full flex-col">
      <ListTitle>Spans</ListTitle>
      <Tabs
        label="Group spans by"
        value={isList ? LIST.id : grouping.id}
        onChange={(id) =>
          setUrl({ tab: id === TOOLS.id ? undefined : id, sort: undefined, order: undefined })
        }
        tabs={[...GROUPINGS.map(({ id, label }) => ({ id, label })), LIST]}
      />
      <div
        role="tabpanel"
        aria-label={isList ? LIST.label : grouping.label}
        className="flex min-h-0 flex-1 flex-col"
      >
        {isList ? <SpanList /> : <SpanGroups grouping={grouping} page="spans" />}
      </div>
    </div>
  );
}
