import { ListFilter, Radio, Search, X } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { useShortcuts } from "@/lib/shortcuts";
import { useSetUrl, useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { Input } from "@/ui/Field";
import { TRIGGER } from "@/ui/overlayStyles";
import { CHOICES, FILTER_KEYS, TYPED } from "./filters";

const FilterPopover = lazy(() => import("./FilterPopover"));
const TableMenus = lazy(() => import("./TableMenus"));

const FILTER = (
  <>
    <ListFilter className="size-3.5 text-muted" aria-hidden /> Filter
  </>
);

export function FilterBar({ total }: { total: string }) {
  const url = useUrl();
  const setUrl = useSetUrl();
  const isLive = url.live === "1";
  return (
    <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
      <SearchBox />
      <Suspense fallback={<span className={TRIGGER}>{FILTER}</span>}>
        <FilterPopover label={FILTER} />
      </Suspense>
      <Chips />
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

function SearchBox() {
  const { search = "" } = useUrl();
  const setUrl = useSetUrl();
  const [text, setText] = useState(search);
  useEffect(() => setText(search), [search]);
  // Searches when typing pauses, not at every letter.
  useEffect(() => {
    if (text === search) return;
    const timer = setTimeout(() => setUrl({ search: text || undefined }), 350);
    return () => clearTimeout(timer);
  }, [text, search, setUrl]);
  useShortcuts([
    { keys: "/", what: "Search traces", run: () => document.getElementById("search")?.focus() },
  ]);
  return (
    <div className="relative w-64 max-md:w-full">
      <Search
        className="pointer-events-none absolute top-2.5 left-2.5 size-3.5 text-faint"
        aria-hidden
      />
      <Input
        id="search"
        type="search"
        aria-label="Search traces"
        placeholder="Search names, inputs, outputs"
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="pl-8"
      />
    </div>
  );
}

/** The active filters, each with a button that removes it. */
function Chips() {
  const url = useUrl();
  const setUrl = useSetUrl();
  const named = [...CHOICES, ...TYPED].filter(({ key }) => url[key]);
  if (named.length === 0) return null;
  return (
    <>
      {named.map((filter) => (
        <span
          key={filter.key}
          className="inline-flex h-6 max-w-64 items-center gap-1 rounded bg-accent-soft pr-0.5 pl-2 text-sm text-accent"
        >
          <span className="truncate">
            {filter.label}: {url[filter.key]?.replace("_", " ")}{" "}
            {"unit" in filter ? filter.unit : ""}
          </span>
          <button
            type="button"
            aria-label={`Remove filter ${filter.label}`}
            onClick={() => setUrl({ [filter.key]: undefined })}
            className="rounded p-0.5 hover:bg-surface"
          >
            <X className="size-3" />
          </button>
        </span>
      ))}
      <Button
        kind="quiet"
        size="small"
        onClick={() => setUrl(Object.fromEntries(FILTER_KEYS.map((key) => [key, undefined])))}
      >
        Clear
      </Button>
    </>
  );
}
