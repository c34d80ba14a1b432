/** How a number changed against the period before, in the colour of what that means. */
import type { Meaning } from "@/lib/analyticsQuery";
import { formatChange, formatPercent, formatPoints } from "@/lib/format";
import { cx } from "./cx";

interface Props {
  value: number | undefined;
  before: number | undefined;
  show: (value: number) => string;
  meaning: Meaning;
}

export function Change({ value, before, show, meaning }: Props) {
  if (value === undefined || before === undefined) return null;
  const isRate = show === formatPercent;
  const change = isRate ? formatPoints(value - before) : formatChange(value, before);
  if (!change) return null;
  const isRise = value > before;
  const isGood = meaning === "high is good" ? isRise : !isRise;
  const isNoise = meaning === "neutral" || change.startsWith("±");
  return (
    <span
      title={`${show(before)} in the previous period`}
      className={cx("truncate text-sm", isNoise ? "text-muted" : isGood ? "text-good" : "text-bad")}
    >
      {change}
    </span>
  );
}
