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

/**
 * The line ending that applies to a range of a text: its first one, else the one before it, else the one after it. The
 * ranges must be given in order.
 */
export function lineEndsOf(text: string): (start: number, end: number) => LineEnd {
  let before = -1;
  let next = text.indexOf("\n");
  const other = text.includes("\r") ? "\r" : "\n";
  if (next === -1) return () => other;
  return (start, end) => {
    while (next !== -1 && next < start) {
      before = next;
      next = text.indexOf("\n", next + 1);
    }
    const at = next !== -1 && (next < end || before === -1) ? next : before;
    return text[at - 1] === "\r" ? "\r\n" : "\n";
  };
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
