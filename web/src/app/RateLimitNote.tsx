/** Says when the page continues after it has reached the rate limit. */
import { useEffect, useState } from "react";
import { type RateLimitWait, useRateLimitWait } from "@/lib/rateLimit";

export function RateLimitNote() {
  const wait = useRateLimitWait();
  return (
    <>
      {/* Screen readers hear it once; the countdown would be read every second. */}
      <p role="status" className="sr-only">
        {wait && wordsFor(wait, Date.now())}
      </p>
      {wait && <Countdown key={wait.until} wait={wait} />}
    </>
  );
}

function Countdown({ wait }: { wait: RateLimitWait }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <p
      aria-hidden
      className="pointer-events-none fixed inset-x-2 top-14 z-50 max-md:top-auto max-md:bottom-4 mx-auto w-fit rounded-md border bg-surface px-3 py-1.5 text-sm tabular-nums shadow-lg"
    >
      {wordsFor(wait, now)}
    </p>
  );
}

function wordsFor({ limit, until }: RateLimitWait, now: number): string {
  const seconds = Math.max(1, Math.ceil((until - now) / 1000));
  return `Limit of ${limit} requests a minute reached. Continues in ${seconds} s`;
}
