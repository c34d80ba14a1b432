import { ChevronLeft, ChevronRight, Clock } from "lucide-react";
import { lazy, Suspense } from "react";
import { useRange, useSetRange } from "@/lib/range";
import { Button } from "@/ui/Button";
import { cx } from "@/ui/cx";
import { TRIGGER } from "@/ui/overlayStyles";

const RangePopover = lazy(() => import("./RangePopover"));

/** Presets, custom dates, and buttons that move the range by its length. */
export function RangePicker() {
  const range = useRange();
  const { setCustom } = useSetRange();
  const length = range.to.getTime() - range.from.getTime();
  const move = (by: number) =>
    setCustom(new Date(range.from.getTime() + by), new Date(range.to.getTime() + by));
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
        onClick={() => move(-length)}
        icon={<ChevronLeft className="size-4" />}
      />
      <Suspense fallback={<span className={cx(TRIGGER, "rounded-none")}>{label}</span>}>
        <RangePopover range={range} label={label} />
      </Suspense>
      <Button
        aria-label="Later"
        className="rounded-l-none border-l-0"
        disabled={range.to.getTime() > Date.now()}
        onClick={() => move(length)}
        icon={<ChevronRight className="size-4" />}
      />
    </div>
  );
}
