/** A button that opens the form for signals. */
import { ThumbsUp } from "lucide-react";
import { useCan } from "@/lib/roles";
import { Popover } from "@/ui/Popover";
import { RoleButton } from "@/ui/RoleButton";
import { SignalForm, type Subject } from "./SignalForm";

interface Props {
  traceId: string;
  /** The selected span. */
  spanId: string | undefined;
  /** What the signal applies to, unless another choice is made. */
  of: Subject;
}

/** The one of a span is an icon. */
export function AddSignalButton({ traceId, spanId, of }: Props) {
  const isEditor = useCan()("editor");
  const name = of === "span" ? "Add a signal to this span" : "Add signal";
  const icon = <ThumbsUp className="size-3.5" aria-hidden />;
  const text = of === "trace" ? "Add signal" : undefined;
  if (!isEditor) {
    return (
      <RoleButton needs="editor" size="small" icon={icon} {...(!text && { "aria-label": name })}>
        {text}
      </RoleButton>
    );
  }
  return (
    <Popover
      ariaLabel={name}
      align="end"
      buttonClass={
        text
          ? "!h-7 text-sm"
          : "!size-7 justify-center !border-0 !bg-transparent !p-0 text-muted hover:!bg-hover"
      }
      className="w-[min(24rem,calc(100vw-2rem))] p-3"
      label={
        <>
          {icon}
          {text && <span aria-hidden>{text}</span>}
        </>
      }
    >
      {(close) => (
        <SignalForm traceId={traceId} spanId={spanId} of={of} startsOpen onSaved={close} />
      )}
    </Popover>
  );
}
