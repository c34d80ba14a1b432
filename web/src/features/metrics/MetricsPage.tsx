/** Any OTLP metric: pick one, group it by attributes, choose an aggregation. */
import { ChartLine } from "lucide-react";
import { useMemo } from "react";
import { formatCount, formatCounted } from "@/lib/format";
import { useUrl, useUrlState } from "@/lib/url";
import { CodeBlock } from "@/ui/CodeBlock";
import { cx } from "@/ui/cx";
import { PageBody } from "@/ui/Panel";
import { SearchBox } from "@/ui/SearchBox";
import { EmptyState, ErrorState, Skeleton } from "@/ui/states";
import { MetricDetail } from "./MetricDetail";
import { type Metric, useMetricNames } from "./metricQueries";

const EXAMPLE = `export OTEL_METRICS_EXPORTER=otlp
export OTEL_EXPORTER_OTLP_ENDPOINT=${location.origin}/api/otlp
export OTEL_EXPORTER_OTLP_HEADERS=x-api-key=YOUR_API_KEY`;

export default function MetricsPage() {
  const [chosen, setChosen] = useUrlState("metric", "");
  const { data, error, refetch, isPending } = useMetricNames();
  const metrics = data?.items;
  const current = useMemo(
    () => metrics?.find((one) => one.name === chosen) ?? metrics?.[0],
    [metrics, chosen],
  );
  return (
    <PageBody title="Metrics">
      {error && !data && <ErrorState error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-[30rem]" />}
      {metrics?.length === 0 && (
        <EmptyState icon={<ChartLine className="size-6" />} title="No metrics in this period">
          <p className="mb-3">
            Counters, gauges and histograms that applications send over OTLP appear here. With an
            OpenTelemetry SDK, three variables are enough:
          </p>
          <div className="text-left">
            <CodeBlock code={EXAMPLE} label="Send metrics" />
          </div>
        </EmptyState>
      )}
      {metrics && current && (
        <div className="grid items-start gap-3 lg:grid-cols-[19rem_minmax(0,1fr)]">
          <Names metrics={metrics} current={current} onPick={setChosen} />
          <MetricDetail key={current.name} metric={current} />
        </div>
      )}
    </PageBody>
  );
}

interface NamesProps {
  metrics: Metric[];
  current: Metric;
  onPick: (name: string) => void;
}

function Names({ metrics, current, onPick }: NamesProps) {
  const { search = "" } = useUrl();
  const found = metrics.filter((one) => one.name.toLowerCase().includes(search.toLowerCase()));
  return (
    <div className="overflow-hidden rounded-lg border bg-surface">
      <div className="border-b p-2 *:w-full">
        <SearchBox
          label="Search metrics"
          placeholder={`Search ${formatCounted(metrics.length, "metric")}`}
        />
      </div>
      <ul aria-label="Metrics" className="max-h-56 overflow-auto lg:max-h-[calc(100dvh-12rem)]">
        {found.map((metric) => (
          <li key={metric.name} className="border-b last:border-0">
            <button
              type="button"
              aria-current={metric === current}
              onClick={() => onPick(metric.name)}
              className={cx(
                "block w-full px-3.5 py-1.5 text-left",
                metric === current ? "bg-accent-soft" : "hover:bg-hover",
              )}
            >
              <span className="block truncate font-medium" title={metric.name}>
                {metric.name}
              </span>
              <span className="block truncate text-sm text-muted">{describe(metric)}</span>
            </button>
          </li>
        ))}
        {found.length === 0 && (
          <li className="px-3.5 py-6 text-center text-muted">No metric with this name</li>
        )}
      </ul>
    </div>
  );
}

const TYPES: Record<Metric["type"], string> = {
  sum: "counter",
  gauge: "gauge",
  histogram: "histogram",
  exponentialHistogram: "exponential histogram",
  summary: "summary",
};

function describe(metric: Metric): string {
  const type =
    metric.type === "sum" && !metric.isMonotonic ? "up-down counter" : TYPES[metric.type];
  const series =
    metric.seriesCount === 1 ? "1 series" : `${formatCount(metric.seriesCount)} series`;
  return [type, metric.unit.replace(/[{}]/g, ""), series].filter(Boolean).join(" · ");
}
