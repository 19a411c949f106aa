import { isUtf8 } from "node:buffer";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Caller, type Send } from "../../engine/caller.ts";
import { Engine } from "../../engine/engine.ts";
import { errorText, invalidRequest, parseError } from "../../engine/errors.ts";
import type { Service } from "../../engine/service.ts";
import type { RpcError } from "../../engine/wire.ts";

/** Why a connection ended from the client's side. */
export interface ConnectionEnd {
  readonly reason: "input ended" | "output broken";
  /** When the end was noticed, in milliseconds of `performance.now()`, before the grace period for calls. */
  readonly since: number;
}

export interface StdioOptions {
  readonly input: Readable;
  /** Nothing else may write to it; for a process's own stdout see `protectStdout`. */
  readonly output: Writable;
  /** Maximum bytes of a line. Default: 16 MiB. */
  readonly maxLineBytes?: number;
  /** Maximum unanswered requests before reading pauses. Default: 1,024. */
  readonly maxInFlight?: number;
  /** Maximum unsent characters before reading pauses. Default: 4 Mi. */
  readonly maxQueued?: number;
  /**
   * How long running requests may continue after the end of the input, in milliseconds. Default: 1,500, or until they are
   * answered if the whole input came at once, as in `printf … | server`.
   */
  readonly graceMs?: number;
  /**
   * Called once after the client has disconnected and the grace period is over, to close the server. Default: the
   * server closes itself.
   */
  readonly onEnd?: (end: ConnectionEnd) => void;
  /** Called with a line about each dropped message that must not be answered. */
  readonly note?: (line: string) => void;
}

const MIB = 1_048_576;
const GRACE_MS = 1_500;
/** How long closing waits for a client that does not read, including the grace period for calls. */
const FLUSH_MS = 1_000;
const MIN_FLUSH_MS = 200;
/** How many lines are taken in one turn of the event loop; the queue may exceed its limit by as many answers. */
const MAX_AT_ONCE = 128;
const MAX_NOTES = 50;
/** Notifications that are not kept for a client that does not read. */
const TRANSIENT = /^\{"jsonrpc":"2\.0","method":"notifications\/(?:progress|message)"/;

/**
 * Serves one client over a pair of streams, one message per line. Reading begins in the first turn of the event loop.
 *
 * Reading pauses while the client does not read its answers or too many requests are unanswered, so the options bound
 * the memory. A client that never reads its answers eventually blocks when it writes.
 */
export function serveStdio(service: Service, options: StdioOptions) {
  const {
    input,
    output,
    maxLineBytes = 16 * MIB,
    maxQueued = 4 * MIB,
    maxInFlight = 1_024,
  } = options;
  const reader = new LineReader(maxLineBytes);
  const onBroken = () => finish({ reason: "output broken", since: performance.now() });
  const writer = new LineWriter(output, { maxQueued, onDrain: wake, onBroken });
  const engine = new Engine(service);
  const send: Send = (json, kind, problem) => {
    if (kind === "notification") {
      if (json !== undefined && !(writer.isBlocked && TRANSIENT.test(json)))
        writer.writeNotification(json);
      return;
    }
    if (json !== undefined) writer.write(json);
    else if (problem !== undefined && notesLeft > 0) {
      notesLeft -= 1;
      options.note?.(`Dropped ${problem.error.message}.`);
    }
    wake();
  };
  const caller = new Caller({ send, maxUnanswered: maxInFlight });
  let isOpen = true;
  let isPaused = false;
  let isTurnOver = false;
  let isWaking = false;
  let isFinished = false;
  /** Pieces of the input that were read. */
  let chunkCount = 0;
  /** When the input ended. */
  let inputEndedAt: number | undefined;
  let graceTimer: NodeJS.Timeout | undefined;
  let notesLeft = MAX_NOTES;
  let onClosed = (): void => undefined;
  const whenClosed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });

  const isHeld = () => !isOpen || writer.isFull || caller.isHeld;

  function onData(chunk: Buffer | string): void {
    chunkCount += 1;
    reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    work();
  }

  /** Takes the messages that it can now, and decides whether to read more. */
  function work(): void {
    if (isTurnOver || !isOpen) return;
    let lineCount = 0;
    while (lineCount < MAX_AT_ONCE && !isHeld() && takeNext()) lineCount += 1;
    const wasPaused = isPaused;
    isTurnOver = lineCount === MAX_AT_ONCE;
    isPaused = isTurnOver || isHeld();
    if (isTurnOver)
      setImmediate(() => {
        isTurnOver = false;
        work();
      });
    if (isPaused) input.pause();
    else if (inputEndedAt === undefined && wasPaused) input.resume();
    else if (inputEndedAt !== undefined && caller.unanswered === 0)
      finish({ reason: "input ended", since: inputEndedAt });
  }

  /** @returns whether there was something to take. */
  function takeNext(): boolean {
    const line = reader.next() ?? (inputEndedAt === undefined ? undefined : reader.last());
    if (line === undefined) return false;
    if (line.kind === "text") engine.serve(line.text, caller, send);
    else if (line.kind === "not-utf8")
      refuse(parseError("The message is not JSON: it is not valid UTF-8."));
    else
      refuse(
        invalidRequest(`A message can have at most ${maxLineBytes} bytes; this one was skipped.`),
      );
    return true;
  }

  function refuse(error: RpcError): void {
    send(errorText(undefined, error, caller.revision?.version), "refusal", { error });
  }

  /** Called after something was answered or written; continues reading if that was waited for. */
  function wake(): void {
    if (isWaking || (!isPaused && inputEndedAt === undefined)) return;
    isWaking = true;
    process.nextTick(() => {
      isWaking = false;
      work();
    });
  }

  function onInputEnd(): void {
    if (inputEndedAt !== undefined || !isOpen) return;
    const since = performance.now();
    inputEndedAt = since;
    const graceMs = options.graceMs ?? (chunkCount === 1 ? undefined : GRACE_MS);
    if (graceMs !== undefined)
      graceTimer = setTimeout(() => finish({ reason: "input ended", since }), graceMs);
    caller.clientLeft();
    work();
  }

  function finish(end: ConnectionEnd): void {
    if (isFinished || !isOpen) return;
    isFinished = true;
    clearTimeout(graceTimer);
    if (options.onEnd === undefined) void close();
    else options.onEnd(end);
  }

  /** Ends the connection. Unanswered requests get an error, and queued output is written for up to a second. */
  async function close(): Promise<void> {
    if (!isOpen) return whenClosed;
    isOpen = false;
    clearTimeout(graceTimer);
    // The listeners stay: an error of an unused stream must not end the process.
    input.off("data", onData);
    input.pause();
    const engineClosed = engine.close(caller);
    const now = performance.now();
    const until = Math.max(now + MIN_FLUSH_MS, (inputEndedAt ?? now) + FLUSH_MS);
    while (!writer.isIdle && performance.now() < until) await sleep(5);
    await engineClosed;
    await engine.closeAll();
    onClosed();
  }

  for (const event of ["end", "close", "error"]) input.on(event, onInputEnd);
  input.on("data", onData);
  return { closed: whenClosed, close };
}

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
class LineReader {
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
const FLUSH_CHARS = 65_536;
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
class LineWriter {
  readonly #output: Writable;
  readonly #options: LineWriterOptions;
  #queue = "";
  #writingChars = 0;
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
    return this.#queue.length + this.#writingChars > this.#options.maxQueued;
  }

  /** Whether more output is unread than a pipe holds. */
  get isBlocked(): boolean {
    return this.#writingChars > 0 && this.#queue.length > FLUSH_CHARS;
  }

  /** Queues one line of JSON, without its newline. */
  write(json: string): void {
    if (this.#isBroken) return;
    if (this.#queue.length + json.length > MAX_WRITE_CHARS) this.#flushNow();
    this.#queue += `${json.replace(LINE_SEPARATORS, escapeSeparator)}\n`;
    if (this.#writingChars > 0) return;
    if (this.#queue.length > FLUSH_CHARS) {
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
    return this.#isBroken || (this.#queue === "" && this.#writingChars === 0);
  }

  readonly #flushNow = (): void => {
    this.#isScheduled = false;
    if (this.#isBroken || this.#queue === "") return;
    const lines = this.#queue;
    this.#queue = "";
    this.#queuedNotifications.clear();
    this.#writingChars += lines.length;
    this.#output.write(lines, "utf8", (error) => {
      if (error) return this.#onError(error);
      this.#writingChars -= lines.length;
      if (this.#writingChars === 0) this.#flushNow();
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
