/** What the trace leaves out of a span's contents. */
import type { Span } from "@/lib/api";

/** How the service marks truncated text. */
const TRUNCATED = /… \[(cut|truncated) at [^\]]*\]$/;

/** Whether the input or output of a span is only in the response of the span itself. */
export function isTruncated({ input, output }: Span): boolean {
  return [input, output].some((one) => typeof one === "string" && TRUNCATED.test(one.slice(-200)));
}
