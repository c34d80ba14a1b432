import { useEffect, useState } from "react";
import { formatAgo, formatDateTime, formatPreciseTime, formatShortTime } from "@/lib/format";
import { useTimeZone } from "@/lib/timeZone";

const FORMATS = {
  ago: formatAgo,
  short: formatShortTime,
  precise: formatPreciseTime,
  full: formatDateTime,
};

interface Props {
  at: string;
  as?: keyof typeof FORMATS;
}

/** A timestamp, with the full value in the viewer's zone and in UTC on hover. */
export function Time({ at, as = "ago" }: Props) {
  return as === "ago" ? <Ago at={at} /> : <Moment at={at} as={as} />;
}

/** Updates its text as time passes. */
function Ago({ at }: Props) {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((count) => count + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  return <Moment at={at} as="ago" />;
}

function Moment({ at, as }: Required<Props>) {
  // Also in rows that are not rendered again with their page.
  useTimeZone();
  return (
    <time dateTime={at} title={`${formatDateTime(at)} · ${at}`} className="whitespace-nowrap">
      {FORMATS[as](at)}
    </time>
  );
}
