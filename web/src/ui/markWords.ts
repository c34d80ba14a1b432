/** Marks words in rendered text without changing its elements. */
import { type RefObject, useEffect } from "react";

/** The name in `::highlight()` of the style sheet. */
const NAME = "found";
const MAX_MARKS = 2_000;

/** The places of the words in the text below an element, in any case. */
export function findRanges(root: Node, words: readonly string[]): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    // In lower case some letters are longer, so that places would be wrong.
    if (text.length !== node.nodeValue?.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        if (ranges.length === MAX_MARKS) return ranges;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}

/** Keeps words marked while the text below the element changes. Words are in lower case. */
export function useMarkedWords(root: RefObject<HTMLElement | null>, words: readonly string[]) {
  const wanted = words.join(" ");
  useEffect(() => {
    const element = root.current;
    if (!element || !wanted || !("highlights" in CSS)) return;
    const mark = () =>
      CSS.highlights.set(NAME, new Highlight(...findRanges(element, wanted.split(" "))));
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    return () => {
      observer.disconnect();
      CSS.highlights.delete(NAME);
    };
  }, [root, wanted]);
}
