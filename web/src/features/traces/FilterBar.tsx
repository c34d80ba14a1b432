import { Radio } from "lucide-react";
import { lazy, Suspense } from "react";
import { useSetUrl, useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { SearchBox } from "@/ui/SearchBox";

const TableMenus = lazy(() => import("./TableMenus"));

export function FilterBar({ total }: { total: string }) {
  const url = useUrl();
  const setUrl = useSetUrl();
  const isLive = url.live === "1";
  return (
    <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
      <SearchBox label="Search traces" placeholder="Words, or a trace, user or session id" />
      <UrlFilterButton />
      <ViewsButton page="traces" />
      <UrlChips />
      <span className="ml-auto text-sm whitespace-nowrap text-muted">{total}</span>
      <Button
        aria-pressed={isLive}
        onClick={() =>
          setUrl({ live: isLive ? undefined : "1", sort: undefined, order: undefined })
        }
        icon={<Radio className={cx("size-3.5", isLive && "animate-pulse text-good")} />}
        className={isLive ? "border-good text-good" : ""}
      >
        Live
      </Button>
      <Suspense fallback={<span className="w-18.5" />}>
        <TableMenus />
      </Suspense>
    </div>
  );
}
