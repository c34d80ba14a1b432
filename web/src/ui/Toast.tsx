/** Short messages at the bottom of the page, on Base UI: announced, and kept while hovered. */
import { Toast } from "@base-ui/react/toast";
import { cx } from "./cx";

type Tone = "good" | "bad" | "neutral";

const manager = Toast.createToastManager();
const MAX_SHOWN = 3;
const MAX_MS = 3000;
const MAX_BAD_MS = 7000;

/** Shows a message: that something was saved, or why it was not. */
export function toast(text: string, tone: Tone = "neutral") {
  manager.add({
    description: text,
    type: tone,
    timeout: tone === "bad" ? MAX_BAD_MS : MAX_MS,
    priority: tone === "bad" ? "high" : "low",
  });
}

export function Toasts() {
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
      <Toast.Description />
    </Toast.Root>
  ));
}
