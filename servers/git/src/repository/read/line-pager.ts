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
  /** Which skipped lines to remember: `start` begins a new landmark, `more` belongs to it. */
  landmark?(line: Buffer): "start" | "more" | undefined;
}

/**
 * Reads a stream of lines, skips some, keeps some and reports when it has enough. It never holds more than one page, however
 * long the stream or a line is.
 */
export class LinePager {
  readonly #options: LinePagerOptions;
  readonly #lines: Buffer[] = [];
  #landmark: Buffer[] = [];
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #isCut = false;
  #cutLines = 0;
  #number = 0;
  #bytes = 0;
  #full = false;

  constructor(options: LinePagerOptions) {
    this.#options = options;
  }

  /** Takes the next bytes; returns false once the page is full. */
  take(chunk: Buffer): boolean {
    let start = 0;
    while (start < chunk.length && !this.#full) {
      const end = chunk.indexOf(this.#options.separator ?? 10, start);
      this.#add(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) break;
      this.#endLine();
      start = end + 1;
    }
    return !this.#full;
  }

  /** The page; call it after the stream has ended or was stopped. */
  page(): LinePage {
    if (!this.#full && (this.#pendingBytes > 0 || this.#isCut)) this.#endLine();
    return {
      lines: this.#lines,
      more: this.#full,
      cutLines: this.#cutLines,
      landmark: this.#landmark,
    };
  }

  #add(part: Buffer): void {
    const remaining = this.#options.maxLineBytes - this.#pendingBytes;
    if (part.length > remaining) this.#isCut = true;
    if (remaining <= 0 || part.length === 0) return;
    // A copy, so that a page does not keep the stream's memory alive.
    this.#pending.push(Buffer.from(part.subarray(0, remaining)));
    this.#pendingBytes += Math.min(part.length, remaining);
  }

  #endLine(): void {
    const line = Buffer.concat(this.#pending);
    const isCut = this.#isCut;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#isCut = false;
    if (this.#number < this.#options.skip) {
      this.#number += 1;
      const mark = this.#options.landmark?.(line);
      if (mark === "start") this.#landmark = [line];
      else if (mark === "more") this.#landmark.push(line);
      return;
    }
    const { maxLines, maxBytes } = this.#options;
    const isOver = this.#lines.length >= maxLines || this.#bytes + line.length + 1 > maxBytes;
    if (isOver && this.#lines.length > 0) {
      this.#full = true;
      return;
    }
    this.#lines.push(line);
    this.#bytes += line.length + 1;
    if (isCut) this.#cutLines += 1;
    this.#number += 1;
  }
}
