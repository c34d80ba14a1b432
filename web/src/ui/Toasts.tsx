/** Toasts on Base UI: announced to screen readers, and kept while hovered or focused. */
import { Toast } from "@base-ui/react/toast";
import { useEffect } from "react";
import { cx } from "./cx";

const manager = Toast.createToastManager();
const MAX_SHOWN = 3;
const TIMEOUT_MS = 3000;
const BAD_TIMEOUT_MS = 7000;

// The manager drops what is added before the provider has subscribed to it.
let isMounted = false;
const waiting: (() => void)[] = [];

export function showToast(text: string, tone: string) {
  if (!isMounted) {
    waiting.push(() => showToast(text, tone));
    return;
  }
  const isBad = tone === "bad";
  manager.add({
    title: text,
    type: tone,
    timeout: isBad ? BAD_TIMEOUT_MS : TIMEOUT_MS,
    priority: isBad ? "high" : "low",
  });
}

export default function Toasts() {
  // Runs after the effects of the provider, which subscribe it.
  useEffect(() => {
    isMounted = true;
    for (const show of waiting.splice(0)) show();
    return () => {
      isMounted = false;
    };
  }, []);
  return (
    <Toast.Provider toastManager={manager} limit={MAX_SHOWN}>
      <Toast.Portal>
        <Toast.Viewport className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex flex-col-reverse items-center gap-2 px-4">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((one) => (
    <Toast.Root
      key={one.id}
      toast={one}
      className={cx(
        "pointer-events-auto max-w-lg rounded-md border bg-surface px-3 py-2 shadow-lg data-limited:hidden",
        one.type === "bad" && "border-bad text-bad",
        one.type === "good" && "border-good text-good",
      )}
    >
      <Toast.Title render={<p />} />
    </Toast.Root>
  ));
}
