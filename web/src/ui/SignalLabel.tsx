import type { Signal } from "@/lib/api";
import { Badge } from "./Badge";

/** The category that an evaluator gave beside its score. */
export function SignalLabel({ signal }: { signal: Signal }) {
  const { label } = signal.metadata;
  return typeof label === "string" && label ? <Badge>{label}</Badge> : null;
}
