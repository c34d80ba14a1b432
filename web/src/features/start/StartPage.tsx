/** Getting started: a key, two variables, a snippet, and a check that the first trace arrived. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, LoaderCircle } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { api, unwrapPage } from "@/lib/api";
import { useWorkspace } from "@/lib/queries";
import { useCan } from "@/lib/roles";
import { useUrl } from "@/lib/url";
import { CodeBlock } from "@/ui/CodeBlock";
import { cx } from "@/ui/cx";
import { PageBody } from "@/ui/Panel";
import { Time } from "@/ui/Time";
import { AskAdmin, CreateKey, EXPIRY_DAYS, useFreshKey } from "./FreshKey";
import { SnippetPicker } from "./SnippetPicker";
import { environment } from "./snippets";

const PLACEHOLDER = "YOUR_API_KEY";

export default function StartPage() {
  const { fresh } = useUrl();
  const { secret, created } = useFreshKey();
  const isAdmin = useCan()("admin");
  const workspace = useWorkspace();
  const isRequested = useRef(false);
  useEffect(() => {
    if (!fresh || secret || !isAdmin || isRequested.current) return;
    isRequested.current = true;
    created.mutate();
  }, [fresh, secret, isAdmin, created]);
  const key = secret ?? PLACEHOLDER;
  return (
    <PageBody title="Get started" isNarrow>
      <ol className="flex flex-col gap-6">
        <Step number={1} title="Configure your application">
          {!secret && (isAdmin ? <CreateKey created={created} /> : <AskAdmin />)}
          <CodeBlock code={environment(location.origin, key)} label="Environment variables" />
          {secret && (
            <p className="mt-1.5 text-sm text-muted">
              This ingest-only key of {workspace?.name} is shown in this tab only.
              {workspace?.requireKeyExpiry && ` It expires in ${EXPIRY_DAYS} days.`}
            </p>
          )}
        </Step>
        <Step number={2} title="Send a trace">
          <SnippetPicker apiKey={key} />
        </Step>
        <FirstTrace />
      </ol>
    </PageBody>
  );
}

function Step({
  number,
  title,
  children,
}: {
  number: number;
  title: string;
  children?: ReactNode;
}) {
  return (
    <li>
      <h2 className="mb-2 flex items-center gap-2 text-lg font-medium">
        <span className="inline-flex size-5 items-center justify-center rounded-full bg-raised text-sm text-muted">
          {number}
        </span>
        {title}
      </h2>
      {children}
    </li>
  );
}

/** Polls until the first trace arrives. */
function FirstTrace() {
  const { data } = useQuery({
    queryKey: ["first-trace"],
    queryFn: () => unwrapPage(api.GET("/api/spans/traces", { params: { query: { limit: 1 } } })),
    refetchInterval: (query) => (query.state.data?.items.length ? false : 2000),
    staleTime: 0,
  });
  const trace = data?.items[0];
  return (
    <Step number={3} title="See it arrive">
      <div
        role="status"
        className={cx(
          "flex flex-wrap items-center gap-3 rounded-lg border p-3.5",
          trace ? "border-good bg-good-soft" : "bg-surface",
        )}
      >
        {trace ? (
          <>
            <CircleCheck className="size-5 text-good" aria-hidden />
            <span className="font-medium text-good">It works.</span>
            <span>
              {trace.name} <Time at={trace.startTime} />
            </span>
            <span className="ml-auto flex gap-4">
              <Link
                to="/traces/$traceId"
                params={{ traceId: trace.traceId }}
                className="text-accent hover:underline"
              >
                Open the trace
              </Link>
              <Link to="/" className="text-accent hover:underline">
                Overview
              </Link>
            </span>
          </>
        ) : (
          <>
            <LoaderCircle className="size-5 animate-spin text-muted" aria-hidden />
            <span className="text-muted">Waiting for the first trace…</span>
          </>
        )}
      </div>
    </Step>
  );
}
