/** For administrators: accounts, the state of the installation, and the audit log. */
import { useUrlState } from "@/lib/url";
import { PageBody } from "@/ui/Panel";
import { Tabs } from "@/ui/Tabs";
import { Audit } from "./Audit";
import { Members } from "./Members";
import { Stats } from "./Stats";

const TABS = [
  { id: "members", label: "Accounts" },
  { id: "stats", label: "Installation" },
  { id: "audit", label: "Audit log" },
];

export default function AdminPage() {
  const [tab, setTab] = useUrlState("tab", "members");
  return (
    <PageBody title="Administration">
      <div className="rounded-lg border bg-surface">
        <Tabs label="Administration" tabs={TABS} value={tab} onChange={setTab} />
        {tab === "stats" ? <Stats /> : tab === "audit" ? <Audit /> : <Members />}
      </div>
    </PageBody>
  );
}
