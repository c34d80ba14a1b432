/** The spans of tools, the slowest first: the first tab of the spans as a page of its own. */
import { ListTitle } from "@/ui/Panel";
import { TOOLS } from "./groupings";
import { SpanGroups } from "./SpanGroups";

export default function ToolsPage() {
  return (
    <div className="flex h-full flex-col">
      <ListTitle>Tools</ListTitle>
      <SpanGroups grouping={TOOLS} page="tools" />
    </div>
  );
}
