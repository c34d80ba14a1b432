import { useSyncExternalStore } from "react";
import { cx } from "./cx";

type Tone = "good" | "bad" | "neutral";
interface Message {
  id: number;
  text: string;
  tone: Tone;
}

let messages: Message[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: Message[]) {
  messages = next;
  for (const listener of listeners) listener();
}

/** Says something in passing: that a thing was saved, or why it was not. */
export function toast(text: string, tone: Tone = "neutral") {
  const id = nextId++;
  set([...messages.slice(-2), { id, text, tone }]);
  setTimeout(() => set(messages.filter((one) => one.id !== id)), tone === "bad" ? 7000 : 3000);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => messages,
  );
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex flex-col items-center gap-2 px-4"
    >
      {shown.map((message) => (
        <div
          key={message.id}
          className={cx(
            "pointer-events-auto max-w-lg rounded-md border bg-surface px-3 py-2 shadow-lg",
            message.tone === "bad" && "border-bad text-bad",
            message.tone === "good" && "border-good text-good",
          )}
        >
          {message.text}
        </div>
      ))}
    </div>
  );
}
