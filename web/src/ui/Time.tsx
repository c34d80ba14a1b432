import { useEffect, useState } from "react";
import { formatAgo, formatDateTime, formatPreciseTime, formatShortTime } from "@/lib/format";

const WAYS = {
  ago: formatAgo,
  short: formatShortTime,
  precise: formatPreciseTime,
  full: formatDateTime,
};

/** A moment: relative or short, always with the whole of it (viewer's zone and UTC) on hover. */
export function Time({ at, as = "ago" }: { at: string; as?: keyof typeof WAYS }) {
  const [, again] = useState(0);
  useEffect(() => {
    if (as !== "ago") return;
    const timer = setInterval(() => again((count) => count + 1), 30_000);
    return () => clearInterval(timer);
  }, [as]);
  const shown = WAYS[as](at);
  return (
    <time dateTime={at} title={`${formatDateTime(at)} · ${at}`} className="whitespace-nowrap">
      {shown}
    </time>
  );
}
