import { type Readable, Writable } from "node:stream";
import { Caller, type Send } from "../../engine/caller.ts";
import { Engine } from "../../engine/engine.ts";
import { errorText, invalidRequest, parseError } from "../../engine/errors.ts";
import type { Service } from "../../engine/service.ts";
import type { RpcError } from "../../engine/wire.ts";
import { type Line, LineReader, LineWriter } from "./lines.ts";

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
 * One client over a pair of streams, one message per line. Reading begins in the first turn of the event loop.
 *
 * Reading pauses while the client does not read its answers or too many requests are unanswered, so the options bound
 * the memory. A client that never reads its answers eventually blocks when it writes.
 */
class StdioServer {
  readonly closed: Promise<void>;
  readonly #options: StdioOptions;
  readonly #maxLineBytes: number;
  readonly #reader: LineReader;
  readonly #writer: LineWriter;
  readonly #engine: Engine;
  readonly #caller: Caller;
  #isOpen = true;
  #isPaused = false;
  #isWorking = false;
  #isTurnOver = false;
  #isWaking = false;
  /** Pieces of the input that were read. */
  #chunks = 0;
  #ended: number | undefined;
  #grace: NodeJS.Timeout | undefined;
  #finished = false;
  #notes = 0;
  #onClosed: () => void = () => undefined;

  constructor(service: Service, options: StdioOptions) {
    const { input, output, maxLineBytes = 16 * 1_048_576, maxQueued = 4 * 1_048_576 } = options;
    this.#options = options;
    this.#maxLineBytes = maxLineBytes;
    this.closed = new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    this.#reader = new LineReader(maxLineBytes);
    this.#writer = new LineWriter(output, {
      maxQueued,
      onDrain: this.#wake,
      onBroken: this.#onBroken,
    });
    this.#engine = new Engine(service);
    this.#caller = new Caller({ send: this.#send, maxUnanswered: options.maxInFlight ?? 1_024 });
    input.on("end", this.#onInputEnd);
    input.on("close", this.#onInputEnd);
    input.on("error", this.#onInputEnd);
    input.on("data", this.#onData);
  }

  readonly #send: Send = (json, kind, problem) => {
    if (kind === "notification") {
      const isBlocked = this.#writer.isBlocked;
      if (json !== undefined && !(isBlocked && TRANSIENT.test(json)))
        this.#writer.writeNotification(json);
      return;
    }
    if (json !== undefined) this.#writer.write(json);
    else if (problem !== undefined) this.#note(problem.error.message);
    this.#wake();
  };

  /** Ends the connection. Unanswered requests get an error, and queued output is written for up to a second. */
  async close(): Promise<void> {
    if (!this.#isOpen) return this.closed;
    this.#isOpen = false;
    clearTimeout(this.#grace);
    const { input } = this.#options;
    // The error listener stays: an error of an unused stream must not end the process.
    input.off("data", this.#onData);
    input.off("end", this.#onInputEnd);
    input.off("close", this.#onInputEnd);
    input.pause();
    const stopped = this.#engine.close(this.#caller);
    const waited = this.#ended === undefined ? 0 : performance.now() - this.#ended;
    await this.#writer.flush(Math.max(MIN_FLUSH_MS, FLUSH_MS - waited));
    this.#writer.release();
    await stopped;
    await this.#engine.closeAll();
    this.#onClosed();
  }

  readonly #onData = (chunk: Buffer | string): void => {
    this.#chunks += 1;
    this.#reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    this.#work();
  };

  /** Takes the messages that it can now, and decides whether to read more. */
  #work(): void {
    if (this.#isWorking || this.#isTurnOver || !this.#isOpen) return;
    this.#isWorking = true;
    let taken = 0;
    try {
      while (taken < MAX_AT_ONCE && !this.#isHeld && this.#takeNext()) taken += 1;
    } finally {
      this.#isWorking = false;
    }
    const wasPaused = this.#isPaused;
    this.#isTurnOver = taken === MAX_AT_ONCE;
    if (this.#isTurnOver) setImmediate(this.#onNextTurn);
    this.#isPaused = this.#isTurnOver || this.#isHeld;
    if (this.#isPaused) this.#options.input.pause();
    else if (this.#ended !== undefined) {
      if (this.#caller.unanswered === 0)
        this.#finish({ reason: "input ended", since: this.#ended });
    } else if (wasPaused) this.#options.input.resume();
  }

  get #isHeld(): boolean {
    return !this.#isOpen || this.#writer.isFull || this.#caller.isHeld;
  }

  /** @returns whether there was something to take. */
  #takeNext(): boolean {
    const line =
      this.#reader.next() ?? (this.#ended === undefined ? undefined : this.#reader.last());
    if (line !== undefined) this.#take(line);
    return line !== undefined;
  }

  #take(line: Line): void {
    if (line.kind === "text") this.#engine.serve(line.text, this.#caller, this.#send);
    else if (line.kind === "not-utf8")
      this.#refuse(parseError("The message is not JSON: it is not valid UTF-8."));
    else {
      const limit = `A message can have at most ${this.#maxLineBytes} bytes; this one was skipped.`;
      this.#refuse(invalidRequest(limit));
    }
  }

  #refuse(error: RpcError): void {
    this.#send(errorText(undefined, error, this.#caller.revision), "refusal", { error });
  }

  readonly #onNextTurn = (): void => {
    this.#isTurnOver = false;
    this.#work();
  };

  /** Called after something was answered or written; continues reading if that was waited for. */
  readonly #wake = (): void => {
    if (this.#isWaking || (!this.#isPaused && this.#ended === undefined)) return;
    this.#isWaking = true;
    process.nextTick(() => {
      this.#isWaking = false;
      this.#work();
    });
  };

  readonly #onInputEnd = (): void => {
    if (this.#ended !== undefined || !this.#isOpen) return;
    const since = performance.now();
    this.#ended = since;
    const isPiped = this.#chunks === 1;
    const graceMs = this.#options.graceMs ?? (isPiped ? undefined : GRACE_MS);
    if (graceMs !== undefined)
      this.#grace = setTimeout(() => this.#finish({ reason: "input ended", since }), graceMs);
    this.#caller.left();
    this.#work();
  };

  readonly #onBroken = (): void => {
    this.#finish({ reason: "output broken", since: performance.now() });
  };

  #finish(end: ConnectionEnd): void {
    if (this.#finished || !this.#isOpen) return;
    this.#finished = true;
    clearTimeout(this.#grace);
    const { onEnd } = this.#options;
    if (onEnd === undefined) void this.close();
    else onEnd(end);
  }

  #note(what: string): void {
    this.#notes += 1;
    if (this.#notes > MAX_NOTES) return;
    const last = this.#notes === MAX_NOTES ? " Further dropped messages are not logged." : "";
    this.#options.note?.(`Dropped ${what}.${last}`);
  }
}

/**
 * Serves one client over a pair of streams. Nothing else may write to `output`; for this process's own stdout see
 * `protectStdout`.
 */
export function serveStdio(service: Service, options: StdioOptions): StdioServer {
  return new StdioServer(service, options);
}

let taken: Writable | undefined;

/**
 * Reserves the process's stdout for the protocol: only the returned stream still writes to it. `process.stdout.write`
 * and `.end`, and so `console.log`, `console.info` and `console.debug`, write to stderr from now on, so no library can
 * corrupt the JSON-RPC lines.
 *
 * Call it before anything else runs. It cannot stop writes that bypass the stream: `fs.writeSync(1, …)`, native code,
 * or a child process that inherits stdout.
 *
 * If stdout breaks, the returned stream emits `error` (EPIPE). A broken stderr is ignored, since a failure to log must
 * not end the server.
 *
 * @returns the same stream on every call.
 */
export function protectStdout(): Writable {
  if (taken !== undefined) return taken;
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const protocol = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, encoding, callback) {
      if (typeof chunk === "string") write(chunk, encoding, callback);
      else write(chunk, callback);
    },
  });
  stdout.on("error", (error) => protocol.destroy(error));
  stderr.on("error", () => undefined);
  const redirected = stderr.write.bind(stderr);
  Object.defineProperties(stdout, {
    write: { configurable: true, writable: true, value: redirected },
    end: { configurable: true, writable: true, value: endInstead },
  });
  taken = protocol;
  return protocol;
}

/** Replaces `stdout.end(…)` for other code: writes to stderr without ending it. */
function endInstead(...args: unknown[]): NodeJS.WriteStream {
  const [chunk] = args;
  if (typeof chunk === "string" || chunk instanceof Uint8Array) process.stderr.write(chunk);
  const callback = args.at(-1);
  if (typeof callback === "function") process.nextTick(() => callback());
  return process.stdout;
}
