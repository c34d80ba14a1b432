/** What the text in the form of a filter means. */
import type { Comparison } from "@/lib/conditions";
import type { Suggestion } from "./useSuggestions";

/** Whether a comparison is with one or several values. */
export function takesValues(comparison: Comparison): boolean {
  return comparison === "eq" || comparison === "ne";
}

/** The value that was typed: a suggested one if only upper and lower case differ. */
export function typedValues(text: string, suggested: readonly Suggestion[]): string[] {
  const typed = text.trim();
  if (!typed) return [];
  if (suggested.some(({ name }) => name === typed)) return [typed];
  const found = suggested.find(({ name, label }) =>
    [name, label].some((one) => one?.toLowerCase() === typed.toLowerCase()),
  );
  return [found?.name ?? typed];
}
