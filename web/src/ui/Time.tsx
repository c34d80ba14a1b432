import { useEffect, useState } from "react";
import { formatAgo, formatDateTime, formatPreciseTime, formatShortTime } from "@/lib/format";

const WAYS = {
  ago: formatAgo,
  short: formatShortTime,
  precise: formatPreciseTime,
  full: formatDateTime,
};

interface Props {
  at: string;
  as?: keyof typeof WAYS;
}

/** A moment: relative or short, always with the whole of it (viewer's zone and UTC) on hover. */
export function Time({ at, as = "ago" }: Props) {
  return as === "ago" ? <Ago at={at} /> : <Moment at={at} as={as} />;
}

/** Grows older by itself. */
function Ago({ at }: Props) {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((count) => count + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  return <Moment at={at} as="ago" />;
}

function Moment({ at, as }: Required<Props>) {
  return (
    <time dateTime={at} title={`${formatDateTime(at)} · ${at}`} className="whitespace-nowrap">
      {WAYS[as](at)}
    </time>
  );
}
