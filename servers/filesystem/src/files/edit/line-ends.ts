type LineEnd = "\n" | "\r\n" | "\r";

/** The lines of a text with LF line endings, and where they are in the original. */
interface LfView {
  readonly text: string;
  /** The position in the original. */
  toOriginal(at: number): number;
}

/** Converts line endings to LF. A lone CR counts if the text has no other line endings. */
export function lfView(original: string): LfView {
  if (!original.includes("\r")) return { text: original, toOriginal: (at) => at };
  if (!original.includes("\n"))
    return { text: original.replaceAll("\r", "\n"), toOriginal: (at) => at };
  // For each CRLF, the position of its LF in the text without carriage returns.
  const carriages: number[] = [];
  for (let at = original.indexOf("\r\n"); at !== -1; at = original.indexOf("\r\n", at + 2))
    carriages.push(at - carriages.length);
  return { text: withLf(original), toOriginal: (at) => at + countBelow(carriages, at) };
}

/** Converts line endings of a caller's text to LF. */
export function withLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

export function withEnds(text: string, end: LineEnd): string {
  return end === "\n" ? text : text.replaceAll("\n", end);
}

/** The line ending that applies to a range: its first one, else the one before it, else the one after it. */
export function endAt(text: string, start: number, end: number): LineEnd {
  if (!text.includes("\n")) return text.includes("\r") ? "\r" : "\n";
  const inside = text.indexOf("\n", start);
  const before = start === 0 ? -1 : text.lastIndexOf("\n", start - 1);
  const at = inside !== -1 && inside < end ? inside : before !== -1 ? before : inside;
  return at > 0 && text[at - 1] === "\r" ? "\r\n" : "\n";
}

function countBelow(sorted: readonly number[], at: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
