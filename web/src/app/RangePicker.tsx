import { ChevronLeft, ChevronRight, Clock } from "lucide-react";
import { lazy, Suspense } from "react";
import { earlierRange, laterRange, useRange, useSetRange } from "@/lib/range";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { TRIGGER } from "@/ui/overlayStyles";

const RangePopover = lazy(() => import("./RangePopover"));

/** Presets, custom dates, and buttons that move the range by its length. */
export function RangePicker() {
  const range = useRange();
  const { setCustom } = useSetRange();
  const move = (to: { from: Date; to: Date } | null) => to && setCustom(to.from, to.to);
  const label = (
    <>
      <Clock className="size-3.5 shrink-0 text-muted" aria-hidden />
      <span className="truncate">{range.label}</span>
    </>
  );
  return (
    <div className="flex min-w-0">
      <Button
        aria-label="Earlier"
        className="rounded-r-none border-r-0"
        onClick={() => move(earlierRange(range))}
        icon={<ChevronLeft className="size-4" />}
      />
      <Suspense fallback={<span className={cx(TRIGGER, "rounded-none")}>{label}</span>}>
        <RangePopover range={range} label={label} />
      </Suspense>
      <Button
        aria-label="Later"
        className="rounded-l-none border-l-0"
        disabled={!laterRange(range, Date.now())}
        onClick={() => move(laterRange(range, Date.now()))}
        icon={<ChevronRight className="size-4" />}
      />
    </div>
  );
}
