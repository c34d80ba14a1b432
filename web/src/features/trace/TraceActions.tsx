/** What can be done with a trace. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CodeXml, GitCompareArrows, Link2, SquareTerminal, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, type TraceWithSpans, unwrap } from "@/lib/api";
import { formatCounted } from "@/lib/format";
import { stringifySearch, useUrl } from "@/lib/url";
import { Button } from "@/ui/Button";
import { copyText } from "@/ui/Copy";
import { Dialog } from "@/ui/Dialog";
import { RoleButton } from "@/ui/RoleButton";
import { toast } from "@/ui/Toast";
import { AddSignalButton } from "./AddSignal";
import { curlOfTrace } from "./curl";

interface Props {
  trace: TraceWithSpans;
  /** The selected span. */
  spanId: string | undefined;
}

export function TraceActions({ trace, spanId }: Props) {
  const navigate = useNavigate();
  return (
    <div className="flex flex-wrap gap-1">
      <AddSignalButton traceId={trace.traceId} spanId={spanId} of="trace" />
      <Button
        size="small"
        icon={<GitCompareArrows className="size-3.5" />}
        onClick={() =>
          void navigate({
            to: "/traces",
            search: { compare: trace.traceId, agent: trace.agentName ?? undefined },
          })
        }
      >
        Compare
      </Button>
      <CopyLink traceId={trace.traceId} spanId={spanId} />
      <CopyCurl
        what="API request"
        icon={<CodeXml className="size-3.5" />}
        command={curlOfTrace(location.origin, trace.traceId)}
      />
      <DeleteTrace trace={trace} />
    </div>
  );
}

/** Names the workspace, so that the link works for a member who is in another one. */
function CopyLink({ traceId, spanId }: { traceId: string; spanId: string | undefined }) {
  const { ws, tab } = useUrl();
  const link = `${location.origin}/traces/${traceId}${stringifySearch({ ws, span: spanId, tab })}`;
  return (
    <Button
      size="small"
      icon={<Link2 className="size-3.5" />}
      onClick={() => void copyText(link).then((isDone) => isDone && toast("Link copied."))}
    >
      <span className="max-sm:sr-only">Copy link</span>
    </Button>
  );
}

interface CopyProps {
  what: string;
  icon?: ReactNode;
  command: string;
  /** What the command lacks. */
  warning?: string | undefined;
}

/** Copies a command for the shell. */
export function CopyCurl({ what, icon, command, warning }: CopyProps) {
  const done = [`Copied the ${what} as cURL.`, warning].filter(Boolean).join(" ");
  return (
    <Button
      kind="quiet"
      size="small"
      aria-label={`Copy ${what} as cURL`}
      onClick={() => void copyText(command).then((isDone) => isDone && toast(done))}
      icon={icon ?? <SquareTerminal className="size-3.5" />}
    />
  );
}

function DeleteTrace({ trace }: { trace: TraceWithSpans }) {
  const navigate = useNavigate();
  const [isConfirming, setConfirming] = useState(false);
  const queries = useQueryClient();
  const remove = async () => {
    try {
      const { traceId } = trace;
      await unwrap(api.DELETE("/api/spans/traces/{traceId}", { params: { path: { traceId } } }));
      queries.removeQueries({ queryKey: ["trace", traceId] });
      toast("Trace deleted.");
      void navigate({ to: "/traces" });
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), "bad");
    }
  };
  return (
    <>
      <RoleButton
        needs="editor"
        kind="quiet"
        size="small"
        aria-label="Delete trace"
        onClick={() => setConfirming(true)}
        icon={<Trash2 className="size-3.5" />}
      />
      <Dialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title="Delete this trace?"
        footer={
          <>
            <Button onClick={() => setConfirming(false)}>Cancel</Button>
            <Button kind="danger" onClick={() => void remove()}>
              Delete
            </Button>
          </>
        }
      >
        This permanently deletes its {formatCounted(trace.spanCount, "span")}, signals and logs.
      </Dialog>
    </>
  );
}
