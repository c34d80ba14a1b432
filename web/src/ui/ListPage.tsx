/** A page that is one list, with a search, filters, views and a sorted column, all in the URL. */
import type { ComponentProps, ReactNode } from "react";
import { useSetUrl, useUrl } from "@/lib/url";
import { Button } from "./Button";
import { UrlChips } from "./filters/Chips";
import { UrlFilterButton } from "./filters/FilterButton";
import { ViewsButton } from "./filters/ViewsButton";
import { ListTitle } from "./Panel";
import { SearchBox } from "./SearchBox";
import { EmptyState, ErrorState, SkeletonRows } from "./states";
import { Table } from "./Table";

interface Props<Row> {
  /** What the rows are, such as "Sessions". */
  title: string;
  /** The part of its address that views are saved under. */
  page: string;
  /** What the search looks for. */
  placeholder: string;
  count: ReactNode;
  query: { error: Error | null; isPending: boolean; refetch: () => unknown };
  table: Omit<ComponentProps<typeof Table<Row>>, "label" | "sorting">;
  /** The column that the rows are sorted by unless the URL says another one. */
  sortedBy: string;
  icon: ReactNode;
  /** What to do where nothing matches. */
  advice: string;
  /** How the first rows get here. */
  children: ReactNode;
}

export function ListPage<Row>(props: Props<Row>) {
  const { title, page, placeholder, count, query, table, sortedBy, icon, advice, children } = props;
  const { search, filters, sort, order } = useUrl();
  const setUrl = useSetUrl();
  const rows = title.toLowerCase();
  const isFiltered = Boolean(search || filters);
  return (
    <div className="flex h-full flex-col">
      <ListTitle>{title}</ListTitle>
      <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
        <SearchBox label={`Search ${rows}`} placeholder={placeholder} />
        <UrlFilterButton />
        <ViewsButton page={page} />
        <UrlChips />
        <span className="ml-auto text-sm whitespace-nowrap text-muted">{count}</span>
      </div>
      <div className="min-h-0 flex-1">
        {query.error && table.rows.length === 0 ? (
          <ErrorState error={query.error} onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <SkeletonRows rows={18} />
        ) : table.rows.length === 0 ? (
          <EmptyState
            icon={icon}
            title={isFiltered ? `No ${rows} match` : `No ${rows} in this period`}
            action={
              isFiltered && (
                <Button onClick={() => setUrl({ search: undefined, filters: undefined })}>
                  Clear filters
                </Button>
              )
            }
          >
            {isFiltered ? advice : children}
          </EmptyState>
        ) : (
          <Table
            {...table}
            label={title}
            sorting={{
              by: sort ?? sortedBy,
              order: order === "asc" ? "asc" : "desc",
              onChange: (by, order) =>
                setUrl({
                  sort: by === sortedBy ? undefined : by,
                  order: order === "desc" ? undefined : order,
                }),
            }}
          />
        )}
      </div>
    </div>
  );
}
