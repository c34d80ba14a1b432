/** The lift of each variant with its always-valid interval, and zero as a line. */
import { cx } from "@/ui/cx";
import {
  type Experiment,
  formatLift,
  liftTone,
  type MetricResult,
  metricLabel,
  type Results,
  type VariantResult,
} from "./labels";

const COLOURS = { good: "var(--good)", bad: "var(--bad)", neutral: "var(--muted)" };
const TICKS = 7;

interface Scale {
  low: number;
  high: number;
  at: (value: number) => string;
}

function makeScale(metrics: MetricResult[]): Scale {
  const ends = metrics.flatMap((metric) =>
    metric.variants.flatMap(({ liftCi }) => (liftCi ? [liftCi.lower, liftCi.upper] : [])),
  );
  const [least, most] = [Math.min(-0.05, ...ends), Math.max(0.05, ...ends)];
  const pad = (most - least) * 0.06;
  const [low, high] = [Math.max(least - pad, -1.5), Math.min(most + pad, 3)];
  const at = (value: number) => {
    const share = (Math.min(Math.max(value, low), high) - low) / (high - low);
    return `${(share * 100).toFixed(2)}%`;
  };
  return { low, high, at };
}

function ticksOf({ low, high }: Scale): number[] {
  const rough = (high - low) / TICKS;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((one) => one >= rough) ?? size;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}

interface Props {
  experiment: Experiment;
  results: Results;
  chosen: string | undefined;
  onChoose: (key: string) => void;
}

export function IntervalPlot({ experiment, results, chosen, onChoose }: Props) {
  const scale = makeScale(results.metrics);
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
          <Bar metric={metric} variant={variant} scale={scale} ticks={ticks} />
          <Figures metric={metric} variant={variant} />
        </div>
      ))}
    </button>
  );
}

function Bar({
  metric,
  variant,
  scale,
  ticks,
}: {
  metric: MetricResult;
  variant: VariantResult;
  scale: Scale;
  ticks: number[];
}) {
  const colour = COLOURS[liftTone(metric, variant)];
  const { liftCi, lift } = variant;
  return (
    <span className="relative h-9">
      {ticks.map((tick) => (
        <span
          key={tick}
          aria-hidden
          className={cx("absolute inset-y-0 w-px", tick === 0 ? "bg-fg opacity-60" : "bg-line")}
          style={{ left: scale.at(tick) }}
        />
      ))}
      {liftCi && lift !== null ? (
        <>
          <span
            className="absolute top-1/2 h-2.5 -translate-y-1/2 rounded-full opacity-35"
            style={{
              left: scale.at(liftCi.lower),
              right: `calc(100% - ${scale.at(liftCi.upper)})`,
              background: colour,
              minWidth: 3,
            }}
          />
          <span
            className="absolute top-1/2 size-2.5 -translate-x-1/2 -translate-y-1/2 rounded-full border-2 border-surface"
            style={{ left: scale.at(lift), background: colour, boxSizing: "content-box" }}
          />
        </>
      ) : (
        <span className="absolute inset-0 flex items-center justify-center text-sm text-muted">
          <span className="truncate bg-surface px-2">{variant.reason ?? "no data yet"}</span>
        </span>
      )}
    </span>
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
