import type { Writable } from "node:stream";

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
