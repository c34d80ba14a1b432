/** The use of coding agents: cost, tokens, edits and sessions, by person and repository. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { SquareTerminal } from "lucide-react";
import { useEffect } from "react";
import { api, type Schemas, unwrap } from "@/lib/api";
import { registerNames } from "@/lib/colours";
import { rangeQuery, useRange } from "@/lib/range";
import { CodeBlock } from "@/ui/CodeBlock";
import { PageBody } from "@/ui/Panel";
import { EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { DayCharts } from "./DayCharts";
import { BillingPanel, EditsPanel, ModelsPanel, RepositoriesPanel } from "./panels";
import { Totals } from "./Totals";
import { PeopleTable, SessionTable } from "./tables";

export type Report = Schemas["CodingAgentsReport"];

const SETUP = `export CLAUDE_CODE_ENABLE_TELEMETRY=1
export OTEL_LOGS_EXPORTER=otlp OTEL_METRICS_EXPORTER=otlp
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_ENDPOINT=${location.origin}/api/otlp
export OTEL_EXPORTER_OTLP_HEADERS=x-api-key=YOUR_API_KEY
export OTEL_LOG_USER_PROMPTS=1`;

function useReport() {
  const query = rangeQuery(useRange());
  return useQuery({
    queryKey: ["coding-agents", query],
    queryFn: () => unwrap(api.GET("/api/analytics/coding-agents", { params: { query } })),
    placeholderData: keepPreviousData,
  });
}

export default function CodingAgentsPage() {
  const { data, error, refetch, isPending } = useReport();
  useEffect(() => {
    if (data) registerNames(namesOf(data));
  }, [data]);
  return (
    <PageBody title="Coding agents">
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-[40rem]" />}
      {data && (data.agents.length > 0 ? <Content report={data} /> : <NothingYet />)}
    </PageBody>
  );
}

/** The names that have a colour on this page. */
function namesOf({ agents, models, repositories }: Report) {
  return {
    agent: agents.map((one) => one.agent),
    model: models.map((one) => one.model),
    repository: repositories.map((one) => one.repository),
  };
}

function Content({ report }: { report: Report }) {
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Totals report={report} />
      <div className="grid gap-3 lg:grid-cols-2">
        <DayCharts report={report} />
      </div>
      <PeopleTable report={report} />
      <div className="grid gap-3 md:grid-cols-2 xl:grid-cols-4">
        <RepositoriesPanel report={report} />
        <ModelsPanel report={report} />
        <EditsPanel report={report} />
        <BillingPanel report={report} />
      </div>
      <SessionTable report={report} />
    </div>
  );
}

function NothingYet() {
  return (
    <EmptyState
      icon={<SquareTerminal className="size-6" />}
      title="No coding agents in this period"
    >
      <p className="mb-3">
        Sessions, cost and edits of Claude Code, Codex, Gemini CLI, Copilot and Cursor appear here
        once they send their telemetry. For Claude Code:
      </p>
      <div className="text-left">
        <CodeBlock code={SETUP} label="Settings of Claude Code" />
      </div>
    </EmptyState>
  );
}
