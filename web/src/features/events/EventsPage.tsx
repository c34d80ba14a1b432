/** What happened in the workspace, and webhooks that are notified of it. */
import { useUrlState } from "@/lib/url";
import { PageBody } from "@/ui/Panel";
import { Tabs } from "@/ui/Tabs";
import { Deliveries } from "./Deliveries";
import { Feed } from "./Feed";
import { Webhooks } from "./Webhooks";

const TABS = [
  { id: "feed", label: "Events" },
  { id: "webhooks", label: "Webhooks" },
  { id: "deliveries", label: "Deliveries" },
];

export default function EventsPage() {
  const [tab, setTab] = useUrlState("tab", "feed");
  return (
    <PageBody title="Events">
      <div className="rounded-lg border bg-surface">
        <Tabs label="Events" tabs={TABS} value={tab} onChange={setTab} />
        {tab === "webhooks" ? <Webhooks /> : tab === "deliveries" ? <Deliveries /> : <Feed />}
      </div>
    </PageBody>
  );
}
