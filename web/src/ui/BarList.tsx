/** Categories as labelled horizontal bars. */
import type { ReactNode } from "react";

export interface Bar {
  key: string;
  label: ReactNode;
  value: number;
  shown: string;
  note?: string;
  colour?: string;
  onClick?: () => void;
}

export function BarList({
  bars,
  empty = "No data in this period",
}: {
  bars: Bar[];
  empty?: string;
}) {
  const most = Math.max(...bars.map((bar) => bar.value), 0);
  if (bars.length === 0) return <p className="py-6 text-center text-muted">{empty}</p>;
  return (
    <ul className="flex flex-col">
      {bars.map((bar) => {
        const width = most > 0 ? `${(bar.value / most) * 100}%` : "0%";
        const content = (
          <>
            <span className="min-w-0 flex-1 truncate text-left">{bar.label}</span>
            <span className="shrink-0">{bar.shown}</span>
            {bar.note !== undefined && (
              <span className="w-14 shrink-0 text-right text-muted">{bar.note}</span>
            )}
            <span className="absolute inset-x-0 bottom-0.5 h-[3px] rounded-full bg-raised">
              <span
                className="block h-full rounded-full"
                style={{ width, background: bar.colour ?? "var(--measure-1)" }}
              />
            </span>
          </>
        );
        const style = "relative flex h-8 w-full items-center gap-2 rounded px-0.5 pb-0.5";
        return (
          <li key={bar.key}>
            {bar.onClick ? (
              <button type="button" onClick={bar.onClick} className={`${style} hover:bg-hover`}>
                {content}
              </button>
            ) : (
              <div className={style}>{content}</div>
            )}
          </li>
        );
      })}
    </ul>
  );
}
