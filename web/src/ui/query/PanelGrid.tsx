/** Panels with the results of queries, on a grid of twelve columns; on phones one below the other. */
import { type CSSProperties, type ReactNode, useMemo } from "react";
import { measureOf } from "@/lib/analyticsQuery";
import { useBehind } from "@/lib/behind";
import { pageConditions } from "@/lib/groups";
import { type Panel, panelToDraft, STEPS, type Step } from "@/lib/queryDraft";
import { useResult } from "@/lib/runQuery";
import { useUrl } from "@/lib/url";
import { cx } from "../cx";
import { Panel as Frame } from "../Panel";
import { QueryResult } from "../states";
import { CELL, COLUMNS, GAP, mediumWidths } from "./panelSizes";
import { QueryChart } from "./QueryChart";

/** The title line and the space below the content. */
const FRAME = 54;

interface Decoration {
  /** In the title line. */
  actions?: ReactNode;
  /** Over the panel. */
  handle?: ReactNode;
  className?: string | undefined;
}

interface Props {
  panels: Panel[];
  /** The interval of charts over time, instead of their own. */
  step?: Step;
  decorate: (panel: Panel, index: number) => Decoration;
}

export function PanelGrid({ panels, step, decorate }: Props) {
  const medium = mediumWidths(panels);
  return (
    <div
      data-grid
      style={{ "--cell": `${CELL}px` } as CSSProperties}
      className="grid auto-rows-(--cell) grid-cols-12 gap-3 max-xl:auto-rows-[minmax(var(--cell),auto)]"
    >
      {panels.map((panel, index) => (
        <PanelCell
          key={index}
          panel={panel}
          step={step}
          medium={medium[index] ?? COLUMNS}
          {...decorate(panel, index)}
        />
      ))}
    </div>
  );
}

interface CellProps extends Decoration {
  panel: Panel;
  step: Step | undefined;
  /** Columns on medium screens. */
  medium: number;
}

function PanelCell({ panel, step, medium, actions, handle, className }: CellProps) {
  const { title, chart, width, height } = panel;
  const draft = useMemo(() => {
    const own = panelToDraft(panel);
    return step && own.step !== "none" ? { ...own, step } : own;
  }, [panel, step]);
  const { agent, env } = useUrl();
  const filters = useMemo(() => pageConditions({ agent, env }), [agent, env]);
  const { answer, granularity, query } = useResult(draft, filters);
  const behind = useBehind(query);
  const content = height * (CELL + GAP) - GAP - FRAME;
  const style = {
    "--wide": width,
    "--medium": medium,
    gridRow: `span ${height}`,
  } as CSSProperties;
  const interval = STEPS.find((one) => one.value === granularity)?.label.toLowerCase();
  const note = query.measures.map((name) => measureOf(name).note).find(Boolean);
  return (
    <div
      style={style}
      className={cx(
        "relative col-span-full flex min-w-0 md:col-[span_var(--medium)] xl:col-[span_var(--wide)]",
        className,
      )}
    >
      <Frame
        title={title}
        unit={interval && <span title={note}>{interval}</span>}
        actions={actions}
        className="w-full overflow-hidden"
      >
        <QueryResult query={answer} rejected="The query is not valid" height={content}>
          {(result) => (
            <QueryChart
              title={title}
              chart={chart}
              query={query}
              result={result}
              granularity={granularity}
              height={content}
              behind={behind}
            />
          )}
        </QueryResult>
      </Frame>
      {handle && <span className="max-md:hidden">{handle}</span>}
    </div>
  );
}
