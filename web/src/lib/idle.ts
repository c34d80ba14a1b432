const TIMEOUT_MS = 500;

/** Runs low-priority work when the browser is idle, after half a second at the latest. */
export function whenIdle(run: () => void) {
  // Safari has no requestIdleCallback.
  if ("requestIdleCallback" in window) requestIdleCallback(run, { timeout: TIMEOUT_MS });
  else setTimeout(run, 200);
}

/** Resolves after the next paint. */
export function afterPaint(): Promise<void> {
  // A hidden tab does not paint.
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** Whether the person has asked the browser to use less data. */
export function savesData(): boolean {
  // Only Chromium says so, and TypeScript does not know it.
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
