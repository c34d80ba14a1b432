/** Failed spans in groups that fail the same way, new and regressed ones first. */

import { useNavigate } from "@tanstack/react-router";
import { BellRing, Bug } from "lucide-react";
import { useUrl, useUrlState } from "@/lib/url";
import { Button } from "@/ui/Button";
import { UrlChips } from "@/ui/filters/Chips";
import { UrlFilterButton } from "@/ui/filters/FilterButton";
import { ViewsButton } from "@/ui/filters/ViewsButton";
import { ListTitle } from "@/ui/Panel";
import { RoleButton } from "@/ui/RoleButton";
import { SearchBox } from "@/ui/SearchBox";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Tabs } from "@/ui/Tabs";
import { FailureRow } from "./FailureRow";
import { useFailures, useMark } from "./useFailures";

const TABS = [
  { id: "all", label: "All" },
  { id: "new", label: "New" },
  { id: "regressed", label: "Regressed" },
  { id: "known", label: "Known" },
  { id: "muted", label: "Muted" },
];

export default function FailuresPage() {
  const [status, setStatus] = useUrlState("status", "");
  const [open, setOpen] = useUrlState("failure", "");
  const { filters, search } = useUrl();
  const list = useFailures();
  const mark = useMark();
  const rows = list.data?.pages.flatMap((page) => page.items) ?? [];
  const total = list.data?.pages[0]?.pagination.total ?? 0;
  return (
    <div className="flex h-full flex-col">
      <div className="flex items-center pr-4">
        <ListTitle>Failures</ListTitle>
        <AlertMe />
      </div>
      <div className="flex flex-wrap-reverse items-start gap-x-2 border-b bg-bg">
        <div className="-mb-px min-w-0 grow">
          <Tabs
            label="Status"
            value={status || "all"}
            onChange={(id) => setStatus(id === "all" ? "" : id)}
            tabs={TABS}
          />
        </div>
        <div className="flex flex-wrap items-center gap-2 px-3 py-1">
          <UrlFilterButton />
          <ViewsButton page="failures" />
          <UrlChips />
          <SearchBox label="Search failures" placeholder="Search titles" />
        </div>
      </div>
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={0}>
        {list.isPending && <SkeletonRows rows={8} />}
        {list.isError && rows.length === 0 && (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        )}
        {list.isSuccess && rows.length === 0 && (
          <NoFailures status={status} isFiltered={Boolean(filters) || Boolean(search)} />
        )}
        <ul aria-label="Failures">
          {rows.map((failure) => (
            <FailureRow
              key={failure.id}
              failure={failure}
              isOpen={failure.id === open}
              isBusy={mark.isPending && mark.variables.id === failure.id}
              onOpen={() => setOpen(failure.id === open ? "" : failure.id)}
              onMark={(to) => mark.mutate({ id: failure.id, status: to })}
            />
          ))}
        </ul>
        {list.hasNextPage && (
          <div className="p-4">
            <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              Show more of {total}
            </Button>
          </div>
        )}
      </div>
    </div>
  );
}

/** Opens the rules of the workspace with a new one that reports new failures. */
function AlertMe() {
  const navigate = useNavigate();
  return (
    <RoleButton
      needs="editor"
      size="small"
      className="mt-2 ml-auto"
      icon={<BellRing className="size-3.5" />}
      onClick={() =>
        void navigate({
          to: "/alerts/rules/workspace",
          search: { rule: "newFailures" },
        })
      }
    >
      Alert me
    </RoleButton>
  );
}

function NoFailures({ status, isFiltered }: { status: string; isFiltered: boolean }) {
  return (
    <EmptyState
      icon={<Bug className="size-6" />}
      title={
        isFiltered
          ? "No failures match"
          : status
            ? "No failures with this status"
            : "No failures in this period"
      }
    >
      Failed spans are grouped by agent, tool or model, error and message. Ids and numbers in the
      message do not matter.
    </EmptyState>
  );
}
