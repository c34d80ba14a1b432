/** Saves a signal and shows it on the trace page at once. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError, api, type TraceWithSpans, unwrap } from "@/lib/api";
import { toast } from "@/ui/Toast";

export interface NewSignal {
  signalName: string;
  value: number;
  comment: string;
  traceId: string;
  /** Undefined for a signal of the whole trace. */
  spanId: string | undefined;
}

export function useSaveSignal(onSaved: (() => void) | undefined) {
  const queries = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: ({ comment, spanId, ...rest }: NewSignal) =>
      unwrap(
        api.POST("/api/signals", {
          body: { ...rest, ...(spanId && { spanId }), ...(comment && { comment }) } as never,
        }),
      ),
    onSuccess: (signal, { signalName, traceId }) => {
      rememberName(signalName);
      queries.setQueryData<TraceWithSpans>(
        ["trace", traceId],
        (trace) => trace && { ...trace, signals: [signal, ...trace.signals] },
      );
      void queries.invalidateQueries({ queryKey: ["signals"] });
      toast(`Signal added: ${signalName} ${signal.value}`, "good");
      onSaved?.();
    },
  });
  return {
    save: mutate,
    isSaving: isPending,
    error: error && (error instanceof ApiError ? error : new ApiError(String(error), 0)),
  };
}

const KEY = "spanwise.signal";
const DEFAULT_NAME = "thumbs_up";

/** The signal that was added last in this browser. */
export function lastName(): string {
  return localStorage.getItem(KEY) ?? DEFAULT_NAME;
}

function rememberName(name: string) {
  localStorage.setItem(KEY, name);
}
