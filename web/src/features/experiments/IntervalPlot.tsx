/** The lift of each variant with its always-valid interval, and zero as a line. */
import { capitalize } from "@/lib/format";
import { cx } from "@/ui/cx";
import { IntervalBar, makeScale, type Scale, ticksOf } from "@/ui/IntervalBar";
import {
  type Experiment,
  formatLift,
  liftTone,
  type MetricResult,
  metricLabel,
  type Results,
  type VariantResult,
} from "./labels";

interface Props {
  experiment: Experiment;
  results: Results;
  chosen: string | undefined;
  onChoose: (key: string) => void;
}

export function IntervalPlot({ experiment, results, chosen, onChoose }: Props) {
  const scale = makeScale(
    results.metrics.flatMap(({ variants }) => variants.flatMap(({ liftCi }) => liftCi ?? [])),
  );
  const ticks = ticksOf(scale);
  const step = (ticks[1] ?? 1) - (ticks[0] ?? 0);
  const ordered = [...results.metrics].sort((a, b) => Number(b.primary) - Number(a.primary));
  return (
    <div className="relative" role="group" aria-label="Lift of each variant against the control">
      <div className="grid grid-cols-[minmax(0,9rem)_minmax(0,1fr)_minmax(0,6.5rem)] gap-x-3 text-sm text-muted max-sm:grid-cols-[minmax(0,1fr)_minmax(0,6.5rem)]">
        <span className="max-sm:hidden" />
        <span className="relative h-5">
          {ticks.map((tick) => (
            <span
              key={tick}
              className={cx(
                "absolute -translate-x-1/2 whitespace-nowrap",
                Math.round(tick / step) % 2 !== 0 && "max-sm:hidden",
              )}
              style={{ left: scale.at(tick) }}
            >
              {tick === 0 ? "0" : formatLift(tick)}
            </span>
          ))}
        </span>
        <span className="text-right">lift</span>
      </div>
      {ordered.map((metric) => (
        <MetricRows
          key={metric.key}
          metric={metric}
          label={metricLabel(experiment.metrics.find((one) => one.key === metric.key))}
          scale={scale}
          ticks={ticks}
          isChosen={metric.key === chosen}
          onChoose={() => onChoose(metric.key)}
        />
      ))}
    </div>
  );
}

interface RowsProps {
  metric: MetricResult;
  label: string;
  scale: Scale;
  ticks: number[];
  isChosen: boolean;
  onChoose: () => void;
}

function MetricRows({ metric, label, scale, ticks, isChosen, onChoose }: RowsProps) {
  const better = metric.direction === "increase" ? "higher is better" : "lower is better";
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      title={`Show ${label} over time`}
      onClick={onChoose}
      className={cx(
        "block w-full border-t py-1.5 text-left",
        isChosen ? "bg-accent-soft" : "hover:bg-hover",
      )}
    >
      {metric.variants.slice(1).map((variant, index) => (
        <div
          key={variant.variant}
          className="grid min-h-9 grid-cols-[minmax(0,9rem)_minmax(0,1fr)_minmax(0,6.5rem)] items-center gap-x-3 max-sm:grid-cols-[minmax(0,1fr)_minmax(0,6.5rem)]"
        >
          <span className="min-w-0 pl-2 max-sm:col-span-2 max-sm:flex max-sm:gap-2">
            {index === 0 && (
              <span className={cx("block truncate", metric.primary && "font-semibold")}>
                {label}
              </span>
            )}
            <span className="block truncate text-sm text-muted">
              {metric.variants.length > 2 ? variant.variant : better}
            </span>
          </span>
          <IntervalBar
            value={variant.lift}
            interval={variant.liftCi}
            tone={liftTone(metric, variant)}
            scale={scale}
            ticks={ticks}
            note={capitalize(variant.reason ?? "no data yet")}
          />
          <Figures metric={metric} variant={variant} />
        </div>
      ))}
    </button>
  );
}

const TEXT = { good: "text-good", bad: "text-bad", neutral: "text-fg" };

function Figures({ metric, variant }: { metric: MetricResult; variant: VariantResult }) {
  return (
    <span className="pr-2 text-right">
      <span className={cx("block font-semibold", TEXT[liftTone(metric, variant)])}>
        {formatLift(variant.lift)}
      </span>
      {variant.liftCi && (
        <span className="block text-xs whitespace-nowrap text-muted">
          {formatLift(variant.liftCi.lower)} … {formatLift(variant.liftCi.upper)}
        </span>
      )}
    </span>
  );
}
