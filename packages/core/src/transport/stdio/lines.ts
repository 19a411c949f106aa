import { isUtf8 } from "node:buffer";
import type { Writable } from "node:stream";

/** A line of input, or why it cannot be used. */
export type Line =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "not-utf8" | "too-long" };

const NEWLINE = 0x0a;
/** A larger buffer is released after its line. */
const KEPT_BUFFER = 1 << 20;

/**
 * Splits a byte stream into lines. `push` adds a chunk, `next` returns its lines one by one, so the caller can stop in
 * the middle of a chunk.
 *
 * Memory is bounded by the maximum line length: the bytes of an overlong line are counted and discarded. Every byte is
 * copied at most a few times, however small the chunks, because an incomplete line is collected in one buffer that
 * doubles.
 */
export class LineReader {
  readonly #maxBytes: number;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #partial: Buffer = Buffer.alloc(0);
  #length = 0;
  #isOverlong = false;
  #first = true;

  /** @param maxBytes of one line, without its newline. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    const rest = this.#chunk.subarray(this.#at);
    this.#chunk = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    this.#at = 0;
  }

  /** The next complete line, or undefined until more is pushed. */
  next(): Line | undefined {
    const from = this.#at;
    if (from >= this.#chunk.length) return undefined;
    const newline = this.#chunk.indexOf(NEWLINE, from);
    const piece = this.#chunk.subarray(from, newline === -1 ? this.#chunk.length : newline);
    this.#at = newline === -1 ? this.#chunk.length : newline + 1;
    if (newline !== -1) return this.#finish(piece);
    this.#keep(piece);
    return undefined;
  }

  /** The text after the last newline as a line, after the end of the input. */
  last(): Line | undefined {
    return this.#length === 0 && !this.#isOverlong ? undefined : this.#finish(Buffer.alloc(0));
  }

  #finish(piece: Buffer): Line {
    if (this.#length > 0 || this.#isOverlong || piece.length > this.#maxBytes) {
      this.#keep(piece);
      piece = this.#partial.subarray(0, this.#length);
    }
    const line: Line = this.#isOverlong ? { kind: "too-long" } : this.#decode(piece);
    this.#first = false;
    this.#isOverlong = false;
    this.#length = 0;
    if (this.#partial.length > KEPT_BUFFER) this.#partial = Buffer.alloc(0);
    return line;
  }

  #decode(bytes: Buffer): Line {
    const bom = this.#first && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const line = bom ? bytes.subarray(3) : bytes;
    return isUtf8(line) ? { kind: "text", text: line.toString("utf8") } : { kind: "not-utf8" };
  }

  #keep(piece: Buffer): void {
    if (this.#isOverlong) return;
    const length = this.#length + piece.length;
    if (length > this.#maxBytes) {
      this.#isOverlong = true;
      this.#length = 0;
      this.#partial = Buffer.alloc(0);
      return;
    }
    if (length > this.#partial.length) {
      const grown = Buffer.allocUnsafe(
        Math.min(this.#maxBytes, Math.max(length, this.#partial.length * 2, 4096)),
      );
      this.#partial.copy(grown, 0, 0, this.#length);
      this.#partial = grown;
    }
    piece.copy(this.#partial, this.#length);
    this.#length = length;
  }
}

/**
 * JSON does not escape U+2028 and U+2029; readers that treat them as line ends (Node.js' readline) would split there.
 */
const LINE_SEPARATORS = /[\u2028\u2029]/g;

/** About the capacity of a pipe: enough for one write. */
const SOON = 65_536;

/** Half the maximum length of a string. */
const MAX_WRITE_CHARS = 2 ** 28;

export interface LineWriterOptions {
  /** The output counts as full with more queued characters than this. */
  readonly maxQueued: number;
  /** Called when the output has accepted the queue. */
  readonly onDrain: () => void;
  /** Called if the reader is gone (EPIPE) or the stream failed; nothing is written afterwards. */
  readonly onBroken: (error: Error) => void;
}

/**
 * Writes lines to a stream: all lines of a tick in one `write`, and the next `write` only after that one completes, so
 * unread output is counted here.
 */
export class LineWriter {
  readonly #output: Writable;
  readonly #options: LineWriterOptions;
  #queue = "";
  #writing = 0;
  #scheduled = false;
  #broken = false;
  #waiting: (() => void)[] = [];
  /** Notifications in the queue, to avoid duplicates. */
  readonly #queuedNotifications = new Set<string>();

  constructor(output: Writable, options: LineWriterOptions) {
    this.#output = output;
    this.#options = options;
    output.on("error", this.#onError);
    output.on("close", this.#onClose);
  }

  /** Whether too much output is unread to produce more. */
  get isFull(): boolean {
    return this.#queue.length + this.#writing > this.#options.maxQueued;
  }

  /** Whether more output is unread than a pipe holds. */
  get isBlocked(): boolean {
    return this.#writing > 0 && this.#queue.length > SOON;
  }

  get isBroken(): boolean {
    return this.#broken;
  }

  /** Queues one line of JSON, without its newline. */
  write(json: string): void {
    if (this.#broken) return;
    if (this.#queue.length + json.length > MAX_WRITE_CHARS) this.#flushNow();
    this.#queue += `${json.replace(LINE_SEPARATORS, escapeSeparator)}\n`;
    if (this.#queue.length > SOON && this.#writing === 0) this.#flushNow();
    else this.#schedule();
  }

  /** Queues a notification, unless the output is blocked and the same one is already queued. */
  writeNotification(json: string): void {
    if (this.isBlocked) {
      if (this.#queuedNotifications.has(json)) return;
      this.#queuedNotifications.add(json);
    }
    this.write(json);
  }

  /** Resolves when the whole queue is written, the output is broken, or `withinMs` have passed. */
  flush(withinMs: number): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Detaches from the stream without ending it, since the process owns it. */
  release(): void {
    this.#output.off("close", this.#onClose);
    // The error listener stays: a late EPIPE from a pending write must not end the process.
  }

  get #isIdle(): boolean {
    return this.#broken || (this.#queue === "" && this.#writing === 0);
  }

  #schedule(): void {
    if (this.#scheduled || this.#writing > 0) return;
    this.#scheduled = true;
    process.nextTick(this.#flushNow);
  }

  readonly #flushNow = (): void => {
    this.#scheduled = false;
    if (this.#broken || this.#queue === "") return;
    const lines = this.#queue;
    this.#queue = "";
    this.#queuedNotifications.clear();
    this.#writing += lines.length;
    this.#output.write(lines, "utf8", (error) => this.#onWritten(lines.length, error));
  };

  #onWritten(length: number, error: Error | null | undefined): void {
    if (error) {
      this.#onError(error);
      return;
    }
    this.#writing -= length;
    if (this.#writing === 0) this.#flushNow();
    if (this.#isIdle) this.#wake();
    this.#options.onDrain();
  }

  readonly #onError = (error: Error): void => {
    if (this.#broken) return;
    this.#broken = true;
    this.#queue = "";
    this.#writing = 0;
    this.#wake();
    this.#options.onBroken(error);
  };

  readonly #onClose = (): void => this.#onError(new Error("The output was closed."));

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

function escapeSeparator(separator: string): string {
  return separator === "\u2028" ? "\\u2028" : "\\u2029";
}
