import { type Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Caller, type Send } from "../../engine/caller.ts";
import { Engine } from "../../engine/engine.ts";
import { errorText, invalidRequest, parseError } from "../../engine/errors.ts";
import type { Service } from "../../engine/service.ts";
import type { RpcError } from "../../engine/wire.ts";
import { LineReader, LineWriter } from "./lines.ts";

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
    else if (problem !== undefined && notes > 0) {
      notes -= 1;
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
  let chunks = 0;
  /** When the input ended. */
  let ended: number | undefined;
  let grace: NodeJS.Timeout | undefined;
  let notes = MAX_NOTES;
  let onClosed = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });

  const isHeld = () => !isOpen || writer.isFull || caller.isHeld;

  function onData(chunk: Buffer | string): void {
    chunks += 1;
    reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    work();
  }

  /** Takes the messages that it can now, and decides whether to read more. */
  function work(): void {
    if (isTurnOver || !isOpen) return;
    let taken = 0;
    while (taken < MAX_AT_ONCE && !isHeld() && takeNext()) taken += 1;
    const wasPaused = isPaused;
    isTurnOver = taken === MAX_AT_ONCE;
    isPaused = isTurnOver || isHeld();
    if (isTurnOver)
      setImmediate(() => {
        isTurnOver = false;
        work();
      });
    if (isPaused) input.pause();
    else if (ended === undefined && wasPaused) input.resume();
    else if (ended !== undefined && caller.unanswered === 0)
      finish({ reason: "input ended", since: ended });
  }

  /** @returns whether there was something to take. */
  function takeNext(): boolean {
    const line = reader.next() ?? (ended === undefined ? undefined : reader.last());
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
    if (isWaking || (!isPaused && ended === undefined)) return;
    isWaking = true;
    process.nextTick(() => {
      isWaking = false;
      work();
    });
  }

  function onInputEnd(): void {
    if (ended !== undefined || !isOpen) return;
    const since = performance.now();
    ended = since;
    const graceMs = options.graceMs ?? (chunks === 1 ? undefined : GRACE_MS);
    if (graceMs !== undefined)
      grace = setTimeout(() => finish({ reason: "input ended", since }), graceMs);
    caller.left();
    work();
  }

  function finish(end: ConnectionEnd): void {
    if (isFinished || !isOpen) return;
    isFinished = true;
    clearTimeout(grace);
    if (options.onEnd === undefined) void close();
    else options.onEnd(end);
  }

  /** Ends the connection. Unanswered requests get an error, and queued output is written for up to a second. */
  async function close(): Promise<void> {
    if (!isOpen) return closed;
    isOpen = false;
    clearTimeout(grace);
    // The listeners stay: an error of an unused stream must not end the process.
    input.off("data", onData);
    input.pause();
    const stopped = engine.close(caller);
    const now = performance.now();
    const until = Math.max(now + MIN_FLUSH_MS, (ended ?? now) + FLUSH_MS);
    while (!writer.isIdle && performance.now() < until) await sleep(5);
    await stopped;
    await engine.closeAll();
    onClosed();
  }

  for (const event of ["end", "close", "error"]) input.on(event, onInputEnd);
  input.on("data", onData);
  return { closed, close };
}

let protocol: Writable | undefined;

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
  if (protocol !== undefined) return protocol;
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const output = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, encoding, callback) {
      if (typeof chunk === "string") write(chunk, encoding, callback);
      else write(chunk, callback);
    },
  });
  stdout.on("error", (error) => output.destroy(error));
  stderr.on("error", () => undefined);
  /** Writes to stderr without ending it. */
  const end = (...args: unknown[]): NodeJS.WriteStream => {
    const [chunk] = args;
    if (typeof chunk === "string" || chunk instanceof Uint8Array) stderr.write(chunk);
    const callback = args.at(-1);
    if (typeof callback === "function") process.nextTick(() => callback());
    return stdout;
  };
  Object.defineProperties(stdout, {
    write: { configurable: true, writable: true, value: stderr.write.bind(stderr) },
    end: { configurable: true, writable: true, value: end },
  });
  protocol = output;
  return output;
}
