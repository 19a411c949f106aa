import type { PageRecord } from "./record.ts";

/** Maximum elements that are searched for shadow roots. */
const MAX_ELEMENTS = 20_000;

/**
 * Watches a page: by what the run records, and by its document.
 *
 * @returns whether it has changed since.
 */
export function watchChanges(record: PageRecord): () => Promise<boolean> {
  const { page, activity } = record;
  const watching = page.evaluateHandle(observe, MAX_ELEMENTS);
  watching.catch(() => undefined);
  return async () => {
    if (record.page !== page || record.activity !== activity) return true;
    // A document that was replaced has changed.
    return watching.then((handle) => handle.evaluate((seen) => seen.changed)).catch(() => true);
  };
}

/** Runs in the page. */
function observe(max: number): { changed: boolean } {
  const seen = { changed: false };
  // A screenshot hides the carets of fields for its time, and covers what it masks.
  const isOurs = ({ type, attributeName, target, addedNodes, removedNodes }: MutationRecord) =>
    type === "attributes"
      ? attributeName === "style" &&
        target instanceof Element &&
        target.matches("input, textarea, [contenteditable]")
      : type === "childList" &&
        [...addedNodes, ...removedNodes].every((node) => /^x-pw-/i.test(node.nodeName));
  const observer = new MutationObserver((records) => {
    if (records.every(isOurs)) return;
    seen.changed = true;
    observer.disconnect();
  });
  const watch = (root: Document | ShadowRoot) => {
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    const all = root.querySelectorAll("*");
    for (let n = 0; n < Math.min(all.length, max); n++) {
      const inner = all[n]?.shadowRoot;
      if (inner) watch(inner);
    }
  };
  watch(document);
  return seen;
}
