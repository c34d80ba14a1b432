import { Link } from "@tanstack/react-router";
import { Telescope } from "lucide-react";
import { pageConditions } from "@/lib/groups";
import { OVERVIEW_PANELS } from "@/lib/overviewPanels";
import { draftToSearch, panelToDraft, type Step } from "@/lib/queryDraft";
import { useUrl } from "@/lib/url";

interface Props {
  /** The title of the panel with the same query. */
  title: string;
  /** The interval, if it is not that of the panel. */
  step?: Step;
}

/** Opens the query of a chart in Explore, where it can be changed and saved to a dashboard. */
export function ExploreLink({ title, step }: Props) {
  const url = useUrl();
  const panel = OVERVIEW_PANELS.find((one) => one.title === title && one.chart !== "number");
  if (!panel) return null;
  const draft = panelToDraft(panel);
  // Explore has no selection of agent and environment.
  const filters = [...draft.filters, ...pageConditions(url)];
  const search = draftToSearch({ ...draft, filters, step: step ?? draft.step });
  return (
    <Link
      to="/explore"
      search={search as never}
      aria-label={`Explore ${title}`}
      title="Explore, or save to a dashboard"
      className="-mr-1.5 inline-flex h-7 min-w-7 items-center justify-center gap-1.5 rounded-md px-1.5 text-sm text-muted hover:bg-hover hover:text-fg"
    >
      <Telescope className="size-3.5" aria-hidden />
      <span className="max-xl:hidden">Explore</span>
    </Link>
  );
}
