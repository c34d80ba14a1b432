/** How errors are named: by their exception, such as `ContentFiltered`, beside one of five types. */
import type { Schemas } from "./api";

/** The exception's own name, without its module; none if it only repeats the type. */
export function shortErrorName(
  name: string | null | undefined,
  errorType: Schemas["ErrorType"] | null,
): string | undefined {
  // Python and Java qualify names with their module.
  const short = name?.split(/[.:]+/).at(-1);
  return short && short !== errorType && short !== "_OTHER" ? short : undefined;
}

export function errorTypeLabel(errorType: Schemas["ErrorType"] | null): string {
  return (errorType ?? "error").replace("_", " ");
}
