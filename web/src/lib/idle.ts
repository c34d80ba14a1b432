const TIMEOUT_MS = 500;

/** Runs low-priority work when the browser is idle, after half a second at the latest. */
export function whenIdle(run: () => void) {
  // Safari has no requestIdleCallback.
  if ("requestIdleCallback" in window) requestIdleCallback(run, { timeout: TIMEOUT_MS });
  else setTimeout(run, 200);
}

let painted: Promise<void> | undefined;

/** Resolves after the next paint, for all at once, so that their requests are sent as one. */
export function afterPaint(): Promise<void> {
  // A hidden tab does not paint.
  if (document.hidden) return Promise.resolve();
  painted ??= new Promise((resolve) =>
    requestAnimationFrame(() =>
      setTimeout(() => {
        painted = undefined;
        resolve();
      }),
    ),
  );
  return painted;
}

/** Runs work right after the current task, before timers and rendering where that is possible. */
export function afterTask(run: () => void) {
  // Not in Safari, and TypeScript does not know it.
  const { scheduler } = globalThis as {
    scheduler?: { postTask(run: () => void, options: { priority: string }): Promise<void> };
  };
  if (scheduler) void scheduler.postTask(run, { priority: "user-blocking" });
  else setTimeout(run);
}

/** Whether the person has asked the browser to use less data. */
export function savesData(): boolean {
  // Only Chromium says so, and TypeScript does not know it.
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
