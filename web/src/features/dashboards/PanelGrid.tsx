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
import { type CSSProperties, useMemo, useState } from "react";
import { useBehind } from "@/lib/behind";
import { pageConditions } from "@/lib/groups";
import { draftToSearch, type Panel, panelToDraft, STEPS } from "@/lib/queryDraft";
import { useResult } from "@/lib/runQuery";
import { useUrl } from "@/lib/url";
import { cx } from "@/ui/cx";
import { Menu, MenuItem, MenuLine } from "@/ui/Menu";
import { Panel as Frame } from "@/ui/Panel";
import { QueryChart } from "@/ui/query/QueryChart";
import { QueryResult } from "@/ui/states";
import { MoveHandle, ResizeHandle } from "./Handles";
import { CELL, COLUMNS, GAP, mediumWidths, movePanel, type Size } from "./layout";

/** The title line and the space below the content. */
const FRAME = 54;

interface Props {
  panels: Panel[];
  /** Without it the panels cannot be changed. */
  onChange?: ((panels: Panel[]) => void) | undefined;
  onEdit: (index: number) => void;
  /** Shows the handles that move and resize panels. */
  isArranging: boolean;
}

/** A dragged panel, and the one in front of which it would be dropped. */
interface Drag {
  from: number;
  before: number;
}

export function PanelGrid({ panels, onChange, onEdit, isArranging }: Props) {
  const medium = mediumWidths(panels);
  const [drag, setDrag] = useState<Drag | null>(null);
  return (
    <div
      data-grid
      style={{ "--cell": `${CELL}px` } as CSSProperties}
      className="grid auto-rows-(--cell) grid-cols-12 gap-3 max-md:auto-rows-[minmax(var(--cell),auto)]"
    >
      {panels.map((panel, index) => (
        <PanelCell
          key={index}
          panel={panel}
          medium={medium[index] ?? COLUMNS}
          marker={markerOf(drag, index, panels.length)}
          onResize={
            isArranging && onChange
              ? (size) => onChange(panels.with(index, { ...panel, ...size }))
              : undefined
          }
          actions={
            <>
              {isArranging && onChange && (
                <span className="max-md:hidden">
                  <MoveHandle
                    title={panel.title}
                    index={index}
                    onTarget={(before) => setDrag(before === null ? null : { from: index, before })}
                    onMove={(before) => onChange(movePanel(panels, index, before))}
                  />
                </span>
              )}
              <PanelMenu
                panel={panel}
                index={index}
                panels={panels}
                onChange={onChange}
                onEdit={onEdit}
              />
            </>
          }
        />
      ))}
    </div>
  );
}

/** Where a panel shows that another one is dropped, and which one is dragged. */
function markerOf(drag: Drag | null, index: number, count: number): string | undefined {
  if (!drag) return undefined;
  if (drag.from === index) return "opacity-50";
  if (drag.before === index) return BEFORE;
  return drag.before === count && index === count - 1 ? AFTER : undefined;
}

const LINE = "after:absolute after:inset-y-0 after:w-1 after:rounded after:bg-accent";
const BEFORE = `${LINE} after:-left-2`;
const AFTER = `${LINE} after:-right-2`;

interface CellProps {
  panel: Panel;
  /** Columns on medium screens. */
  medium: number;
  marker: string | undefined;
  onResize: ((size: Size) => void) | undefined;
  actions: React.ReactNode;
}

function PanelCell({ panel, medium, marker, onResize, actions }: CellProps) {
  const { title, chart, width, height } = panel;
  const draft = useMemo(() => panelToDraft(panel), [panel]);
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
  const unit = STEPS.find((one) => one.value === granularity)?.label.toLowerCase();
  return (
    <div
      style={style}
      className={cx(
        "relative col-span-full flex min-w-0 md:col-[span_var(--medium)] xl:col-[span_var(--wide)]",
        marker,
      )}
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
              behind={behind}
            />
          )}
        </QueryResult>
      </Frame>
      {onResize && (
        <span className="max-md:hidden">
          <ResizeHandle title={title} size={panel} onResize={onResize} />
        </span>
      )}
    </div>
  );
}

interface MenuProps extends Omit<Props, "isArranging"> {
  panel: Panel;
  index: number;
}

function PanelMenu({ panel, index, panels, onChange, onEdit }: MenuProps) {
  const navigate = useNavigate();
  const explore = () =>
    void navigate({ to: "/explore", search: draftToSearch(panelToDraft(panel)) as never });
  const move = (before: number) => onChange?.(movePanel(panels, index, before));
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
            <MenuItem onClick={() => move(index + 2)}>
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
