/** Panels on a grid of twelve columns; on phones one below the other. */

import { useNavigate } from "@tanstack/react-router";
import {
  ArrowLeft,
  ArrowRight,
  Copy,
  EllipsisVertical,
  Pencil,
  Telescope,
  Trash2,
} from "lucide-react";
import { type CSSProperties, useMemo } from "react";
import type { Condition } from "@/lib/conditions";
import { draftToSearch, type Panel, panelToDraft, STEPS } from "@/lib/queryDraft";
import { useResult } from "@/lib/runQuery";
import { useUrl } from "@/lib/url";
import { Menu, MenuItem, MenuLine } from "@/ui/Menu";
import { Panel as Frame } from "@/ui/Panel";
import { QueryChart } from "@/ui/query/QueryChart";
import { QueryResult } from "@/ui/states";

const COLUMNS = 12;
const CELL = 64;
const GAP = 12;
/** The title line and the space below the content. */
const FRAME = 54;

interface Props {
  panels: Panel[];
  /** Without it the panels cannot be changed. */
  onChange?: ((panels: Panel[]) => void) | undefined;
  onEdit: (index: number) => void;
  /** Menus are drawn beside the page and cannot be seen in full screen. */
  hasMenus: boolean;
}

export function PanelGrid({ panels, onChange, onEdit, hasMenus }: Props) {
  const medium = mediumWidths(panels);
  return (
    <div
      style={{ "--cell": `${CELL}px` } as CSSProperties}
      className="grid auto-rows-(--cell) grid-cols-12 gap-3 max-md:auto-rows-[minmax(var(--cell),auto)]"
    >
      {panels.map((panel, index) => (
        <PanelCell
          key={index}
          panel={panel}
          medium={medium[index] ?? COLUMNS}
          actions={
            hasMenus && (
              <PanelMenu
                panel={panel}
                index={index}
                panels={panels}
                onChange={onChange}
                onEdit={onEdit}
              />
            )
          }
        />
      ))}
    </div>
  );
}

/** Panels are twice as wide on medium screens; the last one of each row fills it. */
function mediumWidths(panels: Panel[]): number[] {
  const widths = panels.map(({ width }) => Math.min(COLUMNS, width * 2));
  let used = 0;
  widths.forEach((width, index) => {
    used += width;
    if (used + (widths[index + 1] ?? COLUMNS) <= COLUMNS) return;
    widths[index] = width + COLUMNS - used;
    used = 0;
  });
  return widths;
}

/** Agent and environment of the top bar as conditions. */
function usePageFilters(): Condition[] {
  const { agent, env } = useUrl();
  return useMemo(() => {
    const filters: Condition[] = [];
    if (agent) filters.push({ field: "agent", op: "eq", value: agent });
    if (env) filters.push({ field: "environment", op: "eq", value: env });
    return filters;
  }, [agent, env]);
}

interface CellProps {
  panel: Panel;
  /** Columns on medium screens. */
  medium: number;
  actions: React.ReactNode;
}

function PanelCell({ panel, medium, actions }: CellProps) {
  const { title, chart, width, height } = panel;
  const draft = useMemo(() => panelToDraft(panel), [panel]);
  const { answer, granularity, query } = useResult(draft, usePageFilters());
  const content = height * (CELL + GAP) - GAP - FRAME;
  const style = {
    "--wide": width,
    "--medium": medium,
    gridRow: `span ${height}`,
  } as CSSProperties;
  const unit = STEPS.find((one) => one.value === granularity)?.label.toLowerCase();
  return (
    <div
      style={style}
      className="col-span-full flex min-w-0 md:col-[span_var(--medium)] xl:col-[span_var(--wide)]"
    >
      <Frame title={title} unit={unit} actions={actions} className="w-full overflow-hidden">
        <QueryResult query={answer} rejected="The query is not valid" height={content}>
          {(result) => (
            <QueryChart
              title={title}
              chart={chart}
              query={query}
              result={result}
              granularity={granularity}
              height={content}
            />
          )}
        </QueryResult>
      </Frame>
    </div>
  );
}

interface MenuProps extends Omit<Props, "hasMenus"> {
  panel: Panel;
  index: number;
}

function PanelMenu({ panel, index, panels, onChange, onEdit }: MenuProps) {
  const navigate = useNavigate();
  const explore = () =>
    void navigate({ to: "/explore", search: draftToSearch(panelToDraft(panel)) as never });
  const move = (to: number) => onChange?.(moved(panels, index, to));
  return (
    <Menu
      ariaLabel={`Actions of ${panel.title}`}
      label={<EllipsisVertical className="size-4" aria-hidden />}
      align="end"
      buttonClass="!h-7 !border-transparent !bg-transparent !px-1"
    >
      <MenuItem onClick={explore}>
        <Telescope className="size-3.5" aria-hidden /> Open in Explore
      </MenuItem>
      {onChange && (
        <>
          <MenuItem onClick={() => onEdit(index)}>
            <Pencil className="size-3.5" aria-hidden /> Edit
          </MenuItem>
          <MenuItem onClick={() => onChange(panels.toSpliced(index + 1, 0, panel))}>
            <Copy className="size-3.5" aria-hidden /> Duplicate
          </MenuItem>
          {index > 0 && (
            <MenuItem onClick={() => move(index - 1)}>
              <ArrowLeft className="size-3.5" aria-hidden /> Move earlier
            </MenuItem>
          )}
          {index < panels.length - 1 && (
            <MenuItem onClick={() => move(index + 1)}>
              <ArrowRight className="size-3.5" aria-hidden /> Move later
            </MenuItem>
          )}
          <MenuLine />
          <MenuItem onClick={() => onChange(panels.toSpliced(index, 1))}>
            <Trash2 className="size-3.5" aria-hidden /> Remove
          </MenuItem>
        </>
      )}
    </Menu>
  );
}

function moved(panels: Panel[], from: number, to: number): Panel[] {
  const panel = panels[from];
  return panel ? panels.toSpliced(from, 1).toSpliced(to, 0, panel) : panels;
}
