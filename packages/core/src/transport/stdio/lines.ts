import { isUtf8 } from "node:buffer";
import type { Writable } from "node:stream";

/** A line of input, or why it cannot be used. */
type Line =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "not-utf8" | "too-long" };

const NEWLINE = 0x0a;
const EMPTY = Buffer.alloc(0);
/** As many pieces of a line are joined, so that small ones need no more memory than a line. */
const MAX_PIECES = 4_096;

/**
 * Splits a byte stream into lines. `push` adds a chunk, `next` returns its lines one by one, so the caller can stop in
 * the middle of a chunk. Memory is bounded by the maximum line length: an overlong line is discarded.
 */
export class LineReader {
  readonly #maxBytes: number;
  #chunk: Buffer = EMPTY;
  /** Where the next line begins in it. */
  #at = 0;
  /** The beginning of a line, from earlier chunks. */
  #pieces: Buffer[] = [];
  #length = 0;
  #isFirst = true;

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
    if (from === this.#chunk.length) return undefined;
    const newline = this.#chunk.indexOf(NEWLINE, from);
    const end = newline === -1 ? this.#chunk.length : newline;
    this.#keep(this.#chunk.subarray(from, end));
    this.#at = newline === -1 ? end : end + 1;
    return newline === -1 ? undefined : this.#finish();
  }

  /** The text after the last newline as a line, after the end of the input. */
  last(): Line | undefined {
    return this.#length === 0 ? undefined : this.#finish();
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (piece.length > 0) this.#pieces.push(piece);
    if (this.#length > this.#maxBytes) this.#pieces = [];
    else if (this.#pieces.length > MAX_PIECES) this.#pieces = [Buffer.concat(this.#pieces)];
  }

  #finish(): Line {
    const isTooLong = this.#length > this.#maxBytes;
    const [first = EMPTY] = this.#pieces;
    const bytes = this.#pieces.length < 2 ? first : Buffer.concat(this.#pieces);
    const hasMark = this.#isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    this.#isFirst = false;
    this.#pieces = [];
    this.#length = 0;
    if (isTooLong) return { kind: "too-long" };
    const line = hasMark ? bytes.subarray(3) : bytes;
    return isUtf8(line) ? { kind: "text", text: line.toString("utf8") } : { kind: "not-utf8" };
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

interface LineWriterOptions {
  /** The output counts as full with more queued characters than this. */
  readonly maxQueued: number;
  /** Called when the output has accepted the queue. */
  readonly onDrain: () => void;
  /** Called if the reader is gone (EPIPE) or the stream failed; nothing is written afterwards. */
  readonly onBroken: (error: Error) => void;
}

/**
 * Writes lines to a stream: all lines of a tick in one `write`, and the next `write` only after that one completes, so
 * unread output is counted here. An error listener stays on the stream: a late EPIPE must not end the process.
 */
export class LineWriter {
  readonly #output: Writable;
  readonly #options: LineWriterOptions;
  #queue = "";
  #writing = 0;
  #isScheduled = false;
  #isBroken = false;
  /** Notifications in the queue, to avoid duplicates. */
  readonly #queuedNotifications = new Set<string>();

  constructor(output: Writable, options: LineWriterOptions) {
    this.#output = output;
    this.#options = options;
    output.on("error", this.#onError);
    output.on("close", () => this.#onError(new Error("The output was closed.")));
  }

  /** Whether too much output is unread to produce more. */
  get isFull(): boolean {
    return this.#queue.length + this.#writing > this.#options.maxQueued;
  }

  /** Whether more output is unread than a pipe holds. */
  get isBlocked(): boolean {
    return this.#writing > 0 && this.#queue.length > SOON;
  }

  /** Queues one line of JSON, without its newline. */
  write(json: string): void {
    if (this.#isBroken) return;
    if (this.#queue.length + json.length > MAX_WRITE_CHARS) this.#flushNow();
    this.#queue += `${json.replace(LINE_SEPARATORS, escapeSeparator)}\n`;
    if (this.#writing > 0) return;
    if (this.#queue.length > SOON) {
      this.#flushNow();
    } else if (!this.#isScheduled) {
      this.#isScheduled = true;
      process.nextTick(this.#flushNow);
    }
  }

  /** Queues a notification, unless the output is blocked and the same one is already queued. */
  writeNotification(json: string): void {
    if (this.isBlocked && this.#queuedNotifications.has(json)) return;
    if (this.isBlocked) this.#queuedNotifications.add(json);
    this.write(json);
  }

  /** Whether everything is written, or can no longer be. */
  get isIdle(): boolean {
    return this.#isBroken || (this.#queue === "" && this.#writing === 0);
  }

  readonly #flushNow = (): void => {
    this.#isScheduled = false;
    if (this.#isBroken || this.#queue === "") return;
    const lines = this.#queue;
    this.#queue = "";
    this.#queuedNotifications.clear();
    this.#writing += lines.length;
    this.#output.write(lines, "utf8", (error) => {
      if (error) return this.#onError(error);
      this.#writing -= lines.length;
      if (this.#writing === 0) this.#flushNow();
      this.#options.onDrain();
    });
  };

  readonly #onError = (error: Error): void => {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#queue = "";
    this.#options.onBroken(error);
  };
}

function escapeSeparator(separator: string): string {
  return separator === "\u2028" ? "\\u2028" : "\\u2029";
}
