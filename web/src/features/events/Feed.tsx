import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bell, Bot, FlaskConical, KeyRound } from "lucide-react";
import { api, unwrapPage } from "@/lib/api";
import { usePersonName } from "@/lib/personName";
import { useUrlState } from "@/lib/url";
import { Button } from "@/ui/Button";
import { Select } from "@/ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "@/ui/states";
import { Time } from "@/ui/Time";
import { EVENT_TYPES, type Event, type EventType } from "./types";

export function Feed() {
  const [type, setType] = useUrlState("type", "");
  const list = useInfiniteQuery({
    queryKey: ["events", "feed", type],
    queryFn: ({ pageParam }) =>
      unwrapPage(
        api.GET("/api/events", {
          params: {
            query: {
              limit: 50,
              skip: pageParam,
              type: (type || undefined) as EventType | undefined,
            },
          },
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: ({ pagination }) =>
      pagination.hasMore ? pagination.skip + pagination.limit : undefined,
    placeholderData: (before) => before,
    refetchInterval: 30_000,
  });
  const rows = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div>
      <div className="border-b p-2">
        <Select
          aria-label="Type"
          value={type}
          onChange={setType}
          options={[{ value: "", label: "All types" }, ...EVENT_TYPES]}
        />
      </div>
      {list.isPending && <SkeletonRows rows={10} />}
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && rows.length === 0 && (
        <EmptyState title={type ? "No events of this type" : "No events yet"}>
          Changes to agents, alerts, experiments and keys appear here.
        </EmptyState>
      )}
      <ul aria-label="Events">
        {rows.map((event) => (
          <Row key={event.id} event={event} />
        ))}
      </ul>
      {list.hasNextPage && (
        <div className="p-3 text-center">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Older events
          </Button>
        </div>
      )}
    </div>
  );
}

const ICONS = { agent: Bot, alert: Bell, experiment: FlaskConical, key: KeyRound } as const;
type Subject = keyof typeof ICONS;

function Row({ event }: { event: Event }) {
  const name = usePersonName();
  const [subject = "", verb = ""] = event.type.split(".");
  const Icon = ICONS[subject as Subject] ?? Bot;
  const by = name(event.actor);
  return (
    <li className="flex min-h-9 items-center gap-3 border-b px-3.5 py-1 last:border-0">
      <Icon className="size-4 shrink-0 text-muted" aria-hidden />
      <span className="min-w-0 flex-1 md:truncate">
        <span className="text-muted">
          {subject[0]?.toUpperCase()}
          {subject.slice(1)} {verb}:{" "}
        </span>
        <SubjectLink event={event} />
      </span>
      <span className="truncate text-sm text-muted max-md:hidden" title={by}>
        {by}
      </span>
      <span className="shrink-0 text-right text-sm text-muted md:w-24">
        <Time at={event.at} />
      </span>
    </li>
  );
}

function textOf(event: Event): string {
  const { alert, name } = event.data as { alert?: { title?: string }; name?: string };
  return alert?.title ?? name ?? event.subject;
}

function SubjectLink({ event }: { event: Event }) {
  const text = textOf(event);
  const style = "hover:text-accent";
  const isGone = event.type.endsWith(".deleted");
  if (isGone) return <span>{text}</span>;
  if (event.type.startsWith("alert.")) {
    return (
      <Link to="/alerts" search={{ alert: event.subject }} className={style}>
        {text}
      </Link>
    );
  }
  if (event.type.startsWith("agent.")) {
    return (
      <Link to="/agents/$agentId" params={{ agentId: event.subject }} className={style}>
        {text}
      </Link>
    );
  }
  if (event.type.startsWith("experiment.")) {
    return (
      <Link
        to="/experiments/$experimentId"
        params={{ experimentId: event.subject }}
        className={style}
      >
        {text}
      </Link>
    );
  }
  return <span>{text}</span>;
}
