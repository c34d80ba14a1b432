/** The numbers behind the plot. Every metric but the primary one is a guardrail. */
import { capitalize, formatCount, formatPercent } from "@/lib/format";
import { Badge } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { Panel } from "@/ui/Panel";
import { ScrollX } from "@/ui/ScrollX";
import {
  type Experiment,
  formatLift,
  liftTone,
  type MetricResult,
  metricFormat,
  metricLabel,
  pointsOf,
  type Results,
  type VariantResult,
} from "./labels";

const HEAD = "h-8 px-2 text-sm font-normal whitespace-nowrap text-muted";
const CELL = "h-8 px-2 whitespace-nowrap";
const RIGHT = "text-right";

export function ResultsTable({
  experiment,
  results,
}: {
  experiment: Experiment;
  results: Results;
}) {
  return (
    <Panel title="Results" unit="mean per unit">
      <ScrollX label="Results table">
        <table className="w-full min-w-[44rem] border-collapse">
          <thead>
            <tr>
              <th className={cx(HEAD, "text-left")}>Metric</th>
              <th className={cx(HEAD, "text-left")}>Variant</th>
              <th className={cx(HEAD, RIGHT)}>Units</th>
              <th className={cx(HEAD, RIGHT)}>Mean</th>
              <th className={cx(HEAD, RIGHT)}>Lift</th>
              <th className={cx(HEAD, RIGHT)}>Chance to win</th>
              <th className={cx(HEAD, RIGHT)}>p</th>
              <th className={cx(HEAD, "text-left")}>Verdict</th>
            </tr>
          </thead>
          <tbody>
            {results.metrics.map((metric) =>
              metric.variants.map((variant, place) => (
                <Row
                  key={metric.key + variant.variant}
                  experiment={experiment}
                  metric={metric}
                  variant={variant}
                  isControl={place === 0}
                />
              )),
            )}
          </tbody>
        </table>
      </ScrollX>
      <p className="mt-2 max-w-prose text-sm text-muted">
        <b className="font-medium">Lift</b> is relative to the control&apos;s mean; for rates, the
        difference in percentage points is beside it. <b className="font-medium">Chance to win</b>{" "}
        is the probability that the variant is better at all, from this data alone.{" "}
        <b className="font-medium">p</b> is stricter: it stays valid however often you look, and
        counts every comparison in the table. A high chance beside a high p means promising, not
        proven: keep running.
      </p>
    </Panel>
  );
}

interface RowProps {
  experiment: Experiment;
  metric: MetricResult;
  variant: VariantResult;
  isControl: boolean;
}

function Row({ experiment, metric, variant, isControl }: RowProps) {
  const known = experiment.metrics.find((one) => one.key === metric.key);
  return (
    <tr className={cx("border-t", !isControl && "border-transparent")}>
      <td className={cx(CELL, "text-left")}>
        {isControl && (
          <span className="flex flex-wrap items-center gap-x-2">
            <span className={cx(metric.primary && "font-semibold")}>{metricLabel(known)}</span>
            <Badge tone={metric.primary ? "accent" : "neutral"}>
              {metric.primary ? "primary" : "guardrail"}
            </Badge>
          </span>
        )}
      </td>
      <td className={cx(CELL, "text-left", isControl && "text-muted")}>{variant.variant}</td>
      <td className={cx(CELL, RIGHT)}>{formatCount(variant.units)}</td>
      <td className={cx(CELL, RIGHT)}>{metricFormat(known)(variant.mean)}</td>
      <td className={cx(CELL, RIGHT)}>
        {!isControl && <Lift points={pointsOf(known, metric, variant)} lift={variant.lift} />}
      </td>
      <td className={cx(CELL, RIGHT)}>{isControl ? "" : formatPercent(variant.chanceToWin)}</td>
      <td className={cx(CELL, RIGHT)}>{isControl ? "" : formatP(variant.adjustedPValue)}</td>
      <td className={cx(CELL, "text-left")}>
        {!isControl && <MetricVerdict metric={metric} variant={variant} />}
      </td>
    </tr>
  );
}

function Lift({ points, lift }: { points: string | null; lift: number | null }) {
  return (
    <>
      {formatLift(lift)}
      {points && <span className="ml-1.5 text-muted">{points}</span>}
    </>
  );
}

function formatP(p: number | null): string {
  if (p === null) return "–";
  return p < 0.001 ? "< 0.001" : p.toLocaleString("en-US", { maximumFractionDigits: 3 });
}

function MetricVerdict({ metric, variant }: { metric: MetricResult; variant: VariantResult }) {
  const tone = liftTone(metric, variant);
  if (tone === "good") return <Badge tone="good">better, significant</Badge>;
  if (tone === "bad") return <Badge tone="bad">worse, significant</Badge>;
  return (
    <span className="text-sm text-muted">{capitalize(variant.reason ?? "not significant")}</span>
  );
}
