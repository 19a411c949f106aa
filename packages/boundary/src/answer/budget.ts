/** Hard limit on the characters of an answer, with any options: what the strictest hosts still show. */
export const HARD_ANSWER_CHARS = 80_000;

/** Claude Code saves a longer answer to a file instead of showing it to the model (its documentation, 2026-10). */
export const MAX_SHOWN_CHARS = 50_000;

/** The `_meta` of a tool with longer answers; hosts show up to `chars` characters. */
export const largeAnswers = (chars: number) => ({ "anthropic/maxResultSizeChars": chars });

/**
 * How many leading items fit into `budget` characters. At least one if there is any, so paging always advances.
 *
 * @param size the characters that one item costs in the answer; default: its JSON and a comma.
 */
export function fitCount<Item>(
  items: readonly Item[],
  budget: number,
  size: (item: Item) => number = (item) => JSON.stringify(item).length + 1,
): number {
  let used = 0;
  let count = 0;
  for (const item of items) {
    used += size(item);
    if (used > budget && count > 0) return count;
    count += 1;
  }
  return count;
}

/** Cuts text to `max` characters without splitting a surrogate pair. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? max - 1 : max);
}

/** A text of at most `max` characters; one that is cut ends with an ellipsis. */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${clip(text, max - 1)}…`;
}

/** 1234567 → "1,234,567". */
export function digits(count: number): string {
  return count.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "1 file", "3 files". */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** A readable size: 0 B, 1.5 KiB, 12 MiB. */
export function sizeOf(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit] ?? "B"}`;
}
