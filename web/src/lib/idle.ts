const MOST_MS = 500;

/** Runs what nobody waits for once the browser has nothing else to do, but soon. */
export function whenIdle(run: () => void) {
  // Safari has no idle callback.
  if ("requestIdleCallback" in window) requestIdleCallback(run, { timeout: MOST_MS });
  else setTimeout(run, 200);
}

/** Waits until what is drawn by now is on the screen. */
export function afterPaint(): Promise<void> {
  // Nothing is painted in a tab that nobody sees.
  if (document.hidden) return Promise.resolve();
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
