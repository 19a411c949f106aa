import type { Readable, Writable } from "node:stream";
import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/server";
import { Dialogue } from "./dialogue.ts";
import { isRequestId } from "./jsonrpc.ts";
import { LineReader } from "./lines.ts";
import { LineWriter } from "./writer.ts";

/** Why a connection ended from the client's side. */
export interface ConnectionEnd {
  readonly reason: "input ended" | "output broken";
  /** When the end was noticed, in milliseconds of `performance.now()`; the grace for calls comes after it. */
  readonly since: number;
}

export interface StdioTransportOptions {
  readonly input: Readable;
  /** Nobody else may write to it; for a process's own stdout see `protectStdout`. */
  readonly output: Writable;
  /** The longest line, in bytes. Default: 16 MiB. */
  readonly maxLineBytes?: number;
  /** How many requests may be unanswered before reading pauses. Default: 1,024. */
  readonly maxInFlight?: number;
  /** How many characters may wait for the client before reading pauses. Default: 4 Mi. */
  readonly maxQueued?: number;
  /** How long requests in flight may go on after the end of the input, in milliseconds. Default: 1,500. */
  readonly graceMs?: number;
  /** Called once when the client is gone, after the grace; it closes the connection. Default: the transport closes. */
  readonly onEnd?: (end: ConnectionEnd) => void;
  /** Takes one line about a message that was dropped because it may not be answered. */
  readonly note?: (line: string) => void;
}

/** How long closing waits for a client that does not read; after a grace for calls, less is left for the rest. */
const FLUSH_MS = 1000;
const LEAST_FLUSH_MS = 200;
/** How many messages are taken in one turn of the event loop: by as many answers the queue may exceed its limit. */
const AT_ONCE = 128;
const MOST_NOTES = 50;
const DROPPED_WHEN_BLOCKED: ReadonlySet<string> = new Set([
  "notifications/progress",
  "notifications/message",
]);

/**
 * MCP over a pair of streams, for `serveStdio(factory, { transport })`. It lets through only what the SDK handles
 * right and answers the rest itself; what it refuses and why is in `jsonrpc.ts`, `params.ts` and `era-gate.ts`.
 *
 * Reading pauses while the client does not read its answers and while too much is unanswered, so memory is bounded
 * by the options. A client that never reads its answers therefore blocks in writing at some point.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #options: StdioTransportOptions;
  readonly #reader: LineReader;
  readonly #writer: LineWriter;
  readonly #dialogue: Dialogue;
  #state: "new" | "open" | "closed" = "new";
  #isPaused = false;
  #isWorking = false;
  #isTurnOver = false;
  #isWaking = false;
  #ended: number | undefined;
  #grace: NodeJS.Timeout | undefined;
  #finished = false;
  #notes = 0;

  constructor(options: StdioTransportOptions) {
    const {
      output,
      maxLineBytes = 16 * 1024 * 1024,
      maxInFlight = 1024,
      maxQueued = 4 * 1024 * 1024,
    } = options;
    this.#options = options;
    this.#reader = new LineReader(maxLineBytes);
    this.#writer = new LineWriter(output, { maxQueued, onDrain: this.#wake, onBroken: this.#onBroken });
    this.#dialogue = new Dialogue({
      maxLineBytes,
      maxInFlight,
      deliver: (message) => this.onmessage?.(message),
      write: (json) => this.#writer.write(json),
      dropped: (what) => this.#note(what),
      onerror: (error) => this.onerror?.(error),
    });
  }

  async start(): Promise<void> {
    if (this.#state !== "new")
      throw new Error("This transport was started before; it serves one connection.");
    this.#state = "open";
    const { input } = this.#options;
    input.on("end", this.#onInputEnd);
    input.on("close", this.#onInputEnd);
    input.on("error", this.#onInputError);
    input.on("data", this.#onData);
  }

  /** Called by the SDK with what `initialize` agreed on. */
  setProtocolVersion(version: string): void {
    this.#dialogue.negotiated(version);
  }

  /** Writes a message of the SDK. @throws Error where it cannot be written: closed, or its request was cancelled. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ("result" in message || "error" in message) {
      this.#dialogue.answer(message);
      this.#wake();
      return;
    }
    if (this.#state !== "open" || this.#writer.isBroken) throw new Error("The connection is closed.");
    const origin = options?.relatedRequestId;
    const isOrphan = origin !== undefined && !this.#dialogue.isPending(origin);
    if ("id" in message) {
      if (isOrphan) throw new Error("The request that this question belongs to is over.");
      const { id } = message;
      const json = JSON.stringify(message);
      this.#dialogue.ask(id);
      if (this.#ended !== undefined) process.nextTick(() => this.#dialogue.answerForClient(id));
      else this.#writer.write(json);
      this.#wake();
      return;
    }
    // After a cancellation nothing more is said about a request (MCP 2026-07-28, "stdio: Cancellation").
    if (isOrphan || (this.#writer.isBlocked && DROPPED_WHEN_BLOCKED.has(message.method))) return;
    const taken = message.method === "notifications/cancelled" ? message.params?.requestId : undefined;
    if (isRequestId(taken)) this.#dialogue.unask(taken);
    this.#writer.writeNotification(JSON.stringify(message));
  }

  /** Ends the connection. What is unanswered gets an error; what is queued is written, for up to a second. */
  async close(): Promise<void> {
    if (this.#state === "closed") return;
    this.#state = "closed";
    clearTimeout(this.#grace);
    const { input } = this.#options;
    // The error listener stays: an error of a stream that nobody reads any more must not end the process.
    input.off("data", this.#onData);
    input.off("end", this.#onInputEnd);
    input.off("close", this.#onInputEnd);
    input.pause();
    this.#dialogue.abandon();
    const waited = this.#ended === undefined ? 0 : performance.now() - this.#ended;
    await this.#writer.flush(Math.max(LEAST_FLUSH_MS, FLUSH_MS - waited));
    this.#writer.release();
    this.onclose?.();
  }

  readonly #onData = (chunk: Buffer | string): void => {
    this.#reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    this.#work();
  };

  /** Takes what can be taken now, and sets whether more is read. */
  #work(): void {
    if (this.#isWorking || this.#isTurnOver || this.#state !== "open") return;
    this.#isWorking = true;
    let taken = 0;
    try {
      while (taken < AT_ONCE && !this.#isHeld && this.#takeNext()) taken += 1;
    } finally {
      this.#isWorking = false;
    }
    const wasPaused = this.#isPaused;
    this.#isTurnOver = taken === AT_ONCE;
    if (this.#isTurnOver) setImmediate(this.#onNextTurn);
    this.#isPaused = this.#isTurnOver || this.#isHeld;
    if (this.#isPaused) this.#options.input.pause();
    else if (this.#ended !== undefined) this.#finishWhenIdle(this.#ended);
    else if (wasPaused) this.#options.input.resume();
  }

  get #isHeld(): boolean {
    return this.#state !== "open" || this.#writer.isFull || this.#dialogue.isHeld;
  }

  /** @returns whether there was something to take. */
  #takeNext(): boolean {
    if (this.#dialogue.takeEntry()) return true;
    const line = this.#reader.next() ?? (this.#ended === undefined ? undefined : this.#reader.last());
    if (line !== undefined) this.#dialogue.takeLine(line);
    return line !== undefined;
  }

  readonly #onNextTurn = (): void => {
    this.#isTurnOver = false;
    this.#work();
  };

  /** Something was answered or written: goes on if that was waited for. */
  readonly #wake = (): void => {
    if (this.#isWaking || (!this.#isPaused && this.#ended === undefined)) return;
    this.#isWaking = true;
    process.nextTick(() => {
      this.#isWaking = false;
      this.#work();
    });
  };

  readonly #onInputEnd = (): void => {
    if (this.#ended !== undefined) return;
    const since = performance.now();
    this.#ended = since;
    this.#grace = setTimeout(
      () => this.#finish({ reason: "input ended", since }),
      this.#options.graceMs ?? 1500,
    );
    this.#dialogue.answerAllForClient();
    this.#work();
  };

  readonly #onInputError = (error: Error): void => {
    this.onerror?.(error);
    if (this.#state === "open") this.#onInputEnd();
  };

  readonly #onBroken = (error: Error): void => {
    this.onerror?.(error);
    this.#finish({ reason: "output broken", since: performance.now() });
  };

  #finishWhenIdle(since: number): void {
    if (this.#dialogue.isIdle) this.#finish({ reason: "input ended", since });
  }

  #finish(end: ConnectionEnd): void {
    if (this.#finished || this.#state !== "open") return;
    this.#finished = true;
    clearTimeout(this.#grace);
    const { onEnd } = this.#options;
    if (onEnd === undefined) void this.close();
    else onEnd(end);
  }

  #note(what: string): void {
    this.#notes += 1;
    if (this.#notes > MOST_NOTES) return;
    const last = this.#notes === MOST_NOTES ? " What else is dropped is not noted." : "";
    this.#options.note?.(`Dropped ${what}.${last}`);
  }
}
