/** A page of lines. */
export interface LinePage {
  readonly lines: readonly Buffer[];
  readonly more: boolean;
  /** Lines that were longer than `maxLineBytes` and are cut. */
  readonly cutLines: number;
  /** The last line before this page that `landmark` accepted as a start, and the lines after it that belong to it. */
  readonly landmark: readonly Buffer[];
}

export interface LinePagerOptions {
  readonly skip: number;
  readonly maxLines: number;
  /** Maximum bytes to keep; at least one line is kept. */
  readonly maxBytes: number;
  /** A longer line is cut here, and its rest is not kept in memory. */
  readonly maxLineBytes: number;
  /** What ends a line. Default: a line feed. */
  readonly separator?: number;
  /** Whether a line is left out, and not counted. */
  omits?(line: Buffer): boolean;
  /** Which skipped lines to remember: `start` begins a new landmark, `more` belongs to it. */
  landmark?(line: Buffer): "start" | "more" | undefined;
}

/**
 * Reads a stream of lines, skips some, keeps some and reports when it has enough. It never holds more than one page, however
 * long the stream or a line is.
 */
export function linePager(options: LinePagerOptions) {
  const { skip, maxLines, maxBytes, maxLineBytes, separator = 10 } = options;
  const lines: Buffer[] = [];
  let landmark: Buffer[] = [];
  let pending: Buffer[] = [];
  let [pendingBytes, cutLines, number, bytes] = [0, 0, 0, 0];
  let isCut = false;
  let isFull = false;
  return {
    /** Takes the next bytes; returns false once the page is full. */
    take(chunk: Buffer): boolean {
      let start = 0;
      while (start < chunk.length && !isFull) {
        const end = chunk.indexOf(separator, start);
        add(chunk.subarray(start, end === -1 ? chunk.length : end));
        if (end === -1) break;
        endLine();
        start = end + 1;
      }
      return !isFull;
    },
    /** The page; call it after the stream has ended or was stopped. */
    page(): LinePage {
      if (!isFull && (pendingBytes > 0 || isCut)) endLine();
      return { lines, more: isFull, cutLines, landmark };
    },
  };

  function add(part: Buffer): void {
    const remaining = maxLineBytes - pendingBytes;
    if (part.length > remaining) isCut = true;
    if (remaining <= 0 || part.length === 0) return;
    // A copy, so that a page does not keep the stream's memory alive.
    pending.push(Buffer.from(part.subarray(0, remaining)));
    pendingBytes += Math.min(part.length, remaining);
  }

  function endLine(): void {
    const line = Buffer.concat(pending);
    const wasCut = isCut;
    pending = [];
    pendingBytes = 0;
    isCut = false;
    if (options.omits?.(line)) return;
    if (number < skip) {
      number += 1;
      const mark = options.landmark?.(line);
      if (mark === "start") landmark = [line];
      else if (mark === "more") landmark.push(line);
      return;
    }
    const isOver = lines.length >= maxLines || bytes + line.length + 1 > maxBytes;
    isFull = isOver && lines.length > 0;
    if (isFull) return;
    lines.push(line);
    bytes += line.length + 1;
    if (wasCut) cutLines += 1;
    number += 1;
  }
}
