import { Link } from "@tanstack/react-router";
import { Telescope } from "lucide-react";
import { pageConditions } from "@/lib/groups";
import { draftToSearch, type Panel, panelToDraft, type Step } from "@/lib/queryDraft";
import { useUrl } from "@/lib/url";

interface Props {
  panel: Panel;
  /** The interval, if it is not that of the panel. */
  step?: Step;
}

/** Opens the query of a panel in Explore, where it can be changed and saved to a dashboard. */
export function ExploreLink({ panel, step }: Props) {
  const url = useUrl();
  const draft = panelToDraft(panel);
  // Explore has no selection of agent and environment.
  const filters = [...draft.filters, ...pageConditions(url)];
  const search = draftToSearch({ ...draft, filters, step: step ?? draft.step });
  return (
    <Link
      to="/explore"
      search={search}
      aria-label={`Explore ${panel.title}`}
      title="Explore, or save to a dashboard"
      className="-mr-1.5 inline-flex h-7 min-w-7 items-center justify-center gap-1.5 rounded-md px-1.5 text-sm text-muted hover:bg-hover hover:text-fg"
    >
      <Telescope className="size-3.5" aria-hidden />
      <span className="max-xl:hidden">Explore</span>
    </Link>
  );
}
