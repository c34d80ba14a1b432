import { useEffect, useState } from "react";

const TYPING_MS = 200;

/** The value once typing pauses. */
export function useDebounced<Value>(value: Value, pauseMs = TYPING_MS): Value {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return debounced;
}
