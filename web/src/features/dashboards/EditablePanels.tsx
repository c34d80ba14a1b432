/** The panels of a dashboard, with menus and handles that change them. */

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
import { useState } from "react";
import { draftToSearch, type Panel, panelToDraft } from "@/lib/queryDraft";
import { Menu, MenuItem, MenuLine } from "@/ui/Menu";
import { PanelGrid } from "@/ui/query/PanelGrid";
import { MoveHandle, ResizeHandle } from "./Handles";
import { movePanel } from "./layout";

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

export function EditablePanels({ panels, onChange, onEdit, isArranging }: Props) {
  const [drag, setDrag] = useState<Drag | null>(null);
  return (
    <PanelGrid
      panels={panels}
      decorate={(panel, index) => ({
        className: markerOf(drag, index, panels.length),
        handle: isArranging && onChange && (
          <ResizeHandle
            title={panel.title}
            size={panel}
            onResize={(size) => onChange(panels.with(index, { ...panel, ...size }))}
          />
        ),
        actions: (
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
        ),
      })}
    />
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

interface MenuProps extends Omit<Props, "isArranging"> {
  panel: Panel;
  index: number;
}

function PanelMenu({ panel, index, panels, onChange, onEdit }: MenuProps) {
  const navigate = useNavigate();
  const explore = () =>
    void navigate({ to: "/explore", search: draftToSearch(panelToDraft(panel)) });
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
