import type { Span } from "@/lib/api";
import { shortErrorName } from "@/lib/errors";

/** The exception's own name, such as `ContentFiltered`; none if there is only the error's type. */
export function errorName(span: Span): string | undefined {
  const exception = span.events.find((event) => event.name === "exception")?.attributes;
  const names = [exception?.["exception.type"], span.attributes["error.type"]];
  const name = names.find((one) => typeof one === "string" && one !== "") as string | undefined;
  return shortErrorName(name, span.errorType);
}
