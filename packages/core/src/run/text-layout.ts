/** Wraps text at spaces to at most `width` columns; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const longer = `${lines.at(-1) ?? ""} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines.splice(-1, 1, longer);
    else if (word !== "") lines.push(word);
  }
  return lines;
}

/** The width to write for: the terminal's, limited to 40 to 100 columns; 80 without a terminal. */
export function usableColumns(columns: number | undefined): number {
  return columns === undefined || columns === 0 ? 80 : Math.min(Math.max(columns, 40), 100);
}

/**
 * Lines with a short left and a wrapped right column, indented by two spaces. A label longer than `width` gets its own
 * line.
 */
export function twoColumns(
  rows: readonly (readonly [left: string, right: string])[],
  width: number,
  columns: number,
): string[] {
  const start = width + 4;
  return rows.flatMap(([label, text]) => {
    const [first = "", ...wrappedLines] = wrap(text, Math.max(columns - start, 20));
    const indentedLines = wrappedLines.map((line) => " ".repeat(start) + line);
    if (label.length > width) return [`  ${label}`, " ".repeat(start) + first, ...indentedLines];
    return [`  ${label.padEnd(width)}  ${first}`.trimEnd(), ...indentedLines];
  });
}

/** The width of the left column: the longest label, ignoring those longer than `max`. */
export function leftWidth(labels: readonly string[], max: number): number {
  return Math.max(0, ...labels.map((label) => label.length).filter((length) => length <= max));
}

/** A word for a POSIX shell, quoted only if necessary. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
