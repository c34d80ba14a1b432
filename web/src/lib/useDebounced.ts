import { useEffect, useState } from "react";

const TYPING_MS = 200;

/** The text once typing pauses. */
export function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
