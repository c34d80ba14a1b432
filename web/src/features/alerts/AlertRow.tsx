import { Check, RotateCcw } from "lucide-react";
import { type Alert, describeFiring, describeLatest, severityTone, statusTone } from "@/lib/alerts";
import { colourOf } from "@/lib/colours";
import { Badge, Dot } from "@/ui/Badge";
import { cx } from "@/ui/cx";
import { RoleButton } from "@/ui/RoleButton";
import { Time } from "@/ui/Time";

interface RowProps {
  alert: Alert;
  isOpen: boolean;
  isBusy: boolean;
  onOpen: () => void;
  onMove: (to: "acknowledge" | "reopen") => void;
}

export function AlertRow({ alert, isOpen, isBusy, onOpen, onMove }: RowProps) {
  const isActive = alert.status === "active";
  const { value, note } = describeLatest(alert);
  return (
    <li
      className={cx(
        "flex items-center gap-3 border-b border-l-2 pr-3",
        isOpen ? "bg-accent-soft" : "hover:bg-hover",
        isActive ? "border-l-bad" : "border-l-transparent",
      )}
    >
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onOpen}
        className="flex min-w-0 flex-1 flex-wrap items-center gap-x-1.5 gap-y-1 py-2 pl-3 text-left @2xl:flex-nowrap @2xl:gap-x-3"
      >
        <span className="flex shrink-0 @2xl:w-[4.5rem]">
          <Badge tone={severityTone(alert.severity)}>{alert.severity}</Badge>
        </span>
        <span className="min-w-0 flex-1 @max-2xl:order-first @max-2xl:basis-full">
          <span
            className={cx("block @2xl:truncate", isActive && "font-medium")}
            title={alert.title}
          >
            {alert.title}
          </span>
          <span className="flex items-center gap-1.5 text-sm text-muted">
            {alert.agentId && <Dot colour={colourOf("agent", alert.agentName)} />}
            <span className="truncate">{alert.agentName}</span>
            <span aria-hidden>·</span>
            <Time at={alert.triggeredAt} />
            {alert.silencedUntil && <Badge>silenced</Badge>}
            <span className="min-w-0 shrink-[9] truncate @max-2xl:hidden">
              · {describeFiring(alert)}
            </span>
          </span>
        </span>
        <span className="shrink-0 text-right @max-2xl:order-last @4xl:w-48">
          <span className={cx("block font-medium", isActive && "text-bad")}>
            {note && <span className="text-sm font-normal text-muted">Latest</span>} {value}
          </span>
          <span className="block truncate text-sm text-muted @max-4xl:hidden">{note}</span>
        </span>
        <span className="flex shrink-0 justify-end @2xl:w-28">
          <Badge tone={statusTone(alert.status)}>{alert.status}</Badge>
        </span>
      </button>
      {isActive ? (
        <RoleButton
          needs="editor"
          size="small"
          busy={isBusy}
          aria-label="Acknowledge"
          onClick={() => onMove("acknowledge")}
          icon={<Check className="size-3.5" />}
        />
      ) : (
        <RoleButton
          needs="editor"
          size="small"
          kind="quiet"
          busy={isBusy}
          aria-label="Reopen"
          onClick={() => onMove("reopen")}
          icon={<RotateCcw className="size-3.5" />}
        />
      )}
    </li>
  );
}
