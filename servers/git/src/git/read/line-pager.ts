/** A page of lines. */
export interface LinePage {
  readonly lines: readonly Buffer[];
  readonly more: boolean;
  /** Lines that were longer than `maxLineBytes` and are cut. */
  readonly cutLines: number;
}

interface LinePagerOptions {
  readonly skip: number;
  readonly maxLines: number;
  /** Maximum bytes to keep; at least one line is kept. */
  readonly maxBytes: number;
  /** A longer line is cut here, and its rest is not kept in memory. */
  readonly maxLineBytes: number;
  /** What ends a line. Default: a line feed. */
  readonly separator?: number;
}

/**
 * Reads a stream of lines, skips some, keeps some and reports when it has enough. It never holds more
 * than one page, however long the stream or a line is.
 */
export class LinePager {
  readonly #options: LinePagerOptions;
  #lines: Buffer[] = [];
  /** The part of a line that has arrived. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #isCut = false;
  #skipped = 0;
  #bytes = 0;
  #cutLines = 0;
  #isFull = false;

  constructor(options: LinePagerOptions) {
    this.#options = options;
  }

  /** Takes the next bytes; returns false once the page is full. */
  take(chunk: Buffer): boolean {
    for (let start = 0; start < chunk.length && !this.#isFull; ) {
      const end = chunk.indexOf(this.#options.separator ?? 10, start);
      this.#add(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) break;
      this.#endLine();
      start = end + 1;
    }
    return !this.#isFull;
  }

  /** Ends the last line; call it after the stream has ended or was stopped. */
  end(): void {
    if (!this.#isFull && (this.#pendingBytes > 0 || this.#isCut)) this.#endLine();
  }

  page(): LinePage {
    this.end();
    return { lines: this.#lines, more: this.#isFull, cutLines: this.#cutLines };
  }

  /** Begins again, for another stream. */
  reset(): void {
    [this.#lines, this.#pending] = [[], []];
    [this.#pendingBytes, this.#skipped, this.#bytes, this.#cutLines] = [0, 0, 0, 0];
    [this.#isCut, this.#isFull] = [false, false];
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
    [this.#pending, this.#pendingBytes, this.#isCut] = [[], 0, false];
    const { skip, maxLines, maxBytes } = this.#options;
    if (this.#skipped < skip) {
      this.#skipped++;
      return;
    }
    const isOver = this.#lines.length >= maxLines || this.#bytes + line.length + 1 > maxBytes;
    this.#isFull = isOver && this.#lines.length > 0;
    if (this.#isFull) return;
    this.#lines.push(line);
    this.#bytes += line.length + 1;
    if (isCut) this.#cutLines++;
  }
}
