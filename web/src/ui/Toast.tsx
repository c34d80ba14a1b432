type Tone = "good" | "bad" | "neutral";

/** Shows a message at the bottom of the page: that something was saved, or why it was not. */
export function toast(text: string, tone: Tone = "neutral") {
  // Base UI is not part of the first load.
  void import("./Toasts").then(({ showToast }) => showToast(text, tone));
}
