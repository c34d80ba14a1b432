import { PageBody } from "@/ui/Panel";

export default function OverviewPage() {
  return <PageBody title="Overview">…</PageBody>;
}
