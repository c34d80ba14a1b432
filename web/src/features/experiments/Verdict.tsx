/** What the results say in one sentence, and a warning when the split is off. */
import { formatPercent } from "@/lib/format";
import { cx } from "@/ui/cx";
import { DECISIONS, type Experiment, type Results } from "./labels";

const BANNERS = {
  good: "border-good bg-good-soft",
  bad: "border-bad bg-bad-soft",
  info: "border-info bg-info-soft",
  neutral: "bg-surface",
  warning: "bg-surface",
  accent: "bg-surface",
};

export function VerdictBanner({
  experiment,
  results,
}: {
  experiment: Experiment;
  results: Results;
}) {
  const { word, tone } = DECISIONS[results.verdict.decision];
  const ships = results.verdict.decision === "ship" ? `: ${results.verdict.variant}` : "";
  return (
    <div role="status" className={cx("rounded-lg border px-4 py-3", BANNERS[tone])}>
      <p className="text-lg font-semibold">
        {word}
        {ships}
        {experiment.winner && (
          <span className="font-normal text-muted">
            {" "}
            · {experiment.winner} won and is now used for all units
          </span>
        )}
      </p>
      <p className="mt-0.5">{results.verdict.reason}</p>
    </div>
  );
}

export function RatioWarning({ results }: { results: Results }) {
  const split = results.perVariant
    .map(
      (one) =>
        `${one.variant} ${formatPercent(one.share)} instead of ${formatPercent(one.expectedShare)}`,
    )
    .join(", ");
  return (
    <div role="alert" className="rounded-lg border border-warning bg-warning-soft px-4 py-3">
      <p className="font-semibold">Sample ratio mismatch</p>
      <p className="mt-0.5">
        {split}. Units of one variant are lost, for example because it fails before its exposure is
        recorded. Do not trust the results below until this is fixed.
      </p>
    </div>
  );
}
