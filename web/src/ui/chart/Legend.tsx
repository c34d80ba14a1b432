import { Dot } from "../Badge";
import { cx } from "../cx";
import type { Series } from "./series";

export const LEGEND_HEIGHT = 20;

interface Props {
  series: Pick<Series, "name" | "colour">[];
  hidden: ReadonlySet<string>;
  onToggle: (name: string) => void;
}

/** The names of the series; with more than one, a click hides or shows a series. Many scroll. */
export function Legend({ series, hidden, onToggle }: Props) {
  const isStatic = series.length < 2;
  return (
    <ul
      className="flex gap-x-3 overflow-x-auto text-sm text-muted [scrollbar-width:none]"
      style={{ height: LEGEND_HEIGHT }}
    >
      {series.map(({ name, colour }) => (
        <li key={name} title={name} className="flex max-w-48 shrink-0 items-center gap-1.5">
          {isStatic ? (
            <Entry name={name} colour={colour} />
          ) : (
            <button
              type="button"
              aria-pressed={!hidden.has(name)}
              onClick={() => onToggle(name)}
              className={cx(
                "flex min-w-0 items-center gap-1.5 hover:text-fg focus-visible:-outline-offset-2",
                hidden.has(name) && "text-faint line-through",
              )}
            >
              <Entry name={name} colour={hidden.has(name) ? "var(--line-strong)" : colour} />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Entry({ name, colour }: { name: string; colour: string }) {
  return (
    <>
      <Dot colour={colour} />
      <span className="truncate">{name}</span>
    </>
  );
}
