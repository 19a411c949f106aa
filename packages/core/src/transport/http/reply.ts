import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Send } from "../../engine/caller.ts";
import { errorText } from "../../engine/errors.ts";
import type { Load } from "../../engine/load.ts";
import { REVISIONS } from "../../engine/revision.ts";
import { CODES, type RpcError } from "../../engine/wire.ts";
import type { HttpLimits } from "./settings.ts";

export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(", ") : value)?.trim();
}

type Body =
  | { readonly kind: "text"; readonly text: string; readonly bytes: number }
  | { readonly kind: "too-large" | "too-many" | "not-utf8" | "gone" };

/**
 * Reads a body within two limits: `maxBytes` for one body, and `load` for all messages of a process. Its bytes count
 * while it is being read; afterwards its requests count them.
 */
export function readBody(
  request: IncomingMessage,
  reply: Reply,
  { maxBytes, load }: { readonly maxBytes: number; readonly load: Load },
): Promise<Body> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes)
    return Promise.resolve({ kind: "too-large" });
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let done: typeof resolve | undefined = resolve;
    const end = (body: Body) => {
      load.bytes.count(-size);
      size = 0;
      // The listeners stay as long as the response is open, which may be days; the body must not stay with them.
      chunks = [];
      done?.(body);
      done = undefined;
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      load.bytes.count(chunk.length);
      chunks.push(chunk);
      const isTooLarge = size > maxBytes;
      if (!isTooLarge && load.hasRoomForBytes(size, 0)) return;
      request.off("data", take);
      request.pause();
      end({ kind: isTooLarge ? "too-large" : "too-many" });
    };
    request.on("data", take);
    request.once("end", () => end(decoded(chunks)));
    request.once("error", () => end({ kind: "gone" }));
    reply.whenClosed(() => end({ kind: "gone" }));
  });
}

function decoded(chunks: readonly Buffer[]): Body {
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  return isUtf8(bytes)
    ? { kind: "text", text: bytes.toString("utf8"), bytes: bytes.length }
    : { kind: "not-utf8" };
}

/** A complete response: a body, or a JSON-RPC error without the id of a request. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly error?: RpcError;
}

const JSON_TYPE = { "content-type": "application/json" };

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Answer["headers"] = {},
): Answer {
  return { status, body: JSON.stringify(value), headers: { ...JSON_TYPE, ...headers } };
}

/** A request that is not served: the client's fault, or the server has no room for it now. */
export function refuse(status: number, message: string, headers: Answer["headers"] = {}): Answer {
  const code = status === 429 || status >= 500 ? CODES.internalError : CODES.invalidRequest;
  return errorAnswer(status, { code, message }, headers);
}

export function errorAnswer(
  status: number,
  error: RpcError,
  headers: Answer["headers"] = {},
): Answer {
  return { status, error, headers: { ...JSON_TYPE, ...headers } };
}

export type SlowReaderLimits = Pick<HttpLimits, "queued" | "queuedTotal" | "stalledMs">;

/** How often an idle stream sends a keepalive for intermediaries, in milliseconds. */
const KEEP_ALIVE_MS = 15_000;

/** An HTTP response: a complete answer, or a stream of server-sent events. Writes after its end are dropped. */
export class Reply {
  readonly response: ServerResponse;
  readonly #outbox: Outbox;
  readonly #whenClosed: (() => void)[] = [];
  #isGathering = false;
  /** Bytes that the socket had accepted at the last check. */
  accepted = -1;

  constructor(response: ServerResponse, outbox: Outbox) {
    this.response = response;
    this.#outbox = outbox;
    response.once("close", () => {
      this.#outbox.remove(this);
      for (const work of this.#whenClosed) work();
    });
  }

  get isClosed(): boolean {
    return this.response.closed || this.response.destroyed;
  }

  get isStream(): boolean {
    return this.response.headersSent && !this.response.writableEnded;
  }

  /** Calls `work` when the response has ended, for whatever reason. */
  whenClosed(work: () => void): void {
    if (this.response.closed) work();
    else this.#whenClosed.push(work);
  }

  /** @param more headers in addition to those of the answer. */
  send({ status, headers, body, error }: Answer, more: Answer["headers"] = {}): void {
    if (this.isClosed || this.response.headersSent) return;
    const text = body ?? (error === undefined ? "" : errorText(undefined, error, this.#revision));
    this.#outbox.add(this);
    const length = { "content-length": Buffer.byteLength(text) };
    this.response.writeHead(status, { ...headers, ...more, ...length });
    this.response.end(text);
    this.#outbox.written(this);
  }

  /** The revision that its request named. */
  get #revision() {
    return REVISIONS.get(headerOf(this.response.req.headers, "mcp-protocol-version") ?? "");
  }

  openStream(headers: Readonly<Record<string, string>> = {}): void {
    if (this.isClosed || this.response.headersSent) return;
    this.#outbox.add(this);
    this.#gather();
    this.response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      ...headers,
    });
    this.response.flushHeaders();
  }

  /** @param json JSON text, or nothing for an event that only has an id. */
  event(json: string, id?: string): void {
    const name = json === "" ? "" : "event: message\n";
    this.write(`${name}${id === undefined ? "" : `id: ${id}\n`}data: ${json}\n\n`);
  }

  /** Writes to the stream. A client that is too far behind is disconnected. */
  write(text: string): void {
    if (this.isClosed || this.response.writableEnded) return;
    if (this.response.writableLength > this.#outbox.limits.queued) {
      this.response.destroy();
      return;
    }
    this.#gather();
    this.response.write(text);
    this.#outbox.written(this);
  }

  end(): void {
    if (this.isClosed) return;
    // Node.js 24 drops what was written since `cork` if the response ends before `uncork`.
    this.#release();
    this.response.end();
  }

  /** Sends everything written in one turn of the event loop together: the headers with the first events. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.response.cork();
    setImmediate(() => this.#release());
  }

  #release(): void {
    if (!this.#isGathering) return;
    this.#isGathering = false;
    if (!this.response.destroyed) this.response.uncork();
  }
}

/**
 * All responses in progress. Node.js buffers unread data without limit, so a client that is too far behind, or reads
 * nothing for too long, is disconnected. A client with a session can resume.
 */
export class Outbox {
  readonly limits: SlowReaderLimits;
  readonly #open = new Set<Reply>();
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(limits: SlowReaderLimits) {
    this.limits = limits;
    this.#timers = [
      setInterval(() => this.#cutOffStalled(), limits.stalledMs),
      setInterval(() => this.#keepAlive(), KEEP_ALIVE_MS),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  get waiting(): number {
    let bytes = 0;
    for (const { response } of this.#open) bytes += response.writableLength;
    return bytes;
  }

  add(reply: Reply): void {
    this.#open.add(reply);
  }

  remove(reply: Reply): void {
    this.#open.delete(reply);
  }

  /** @param reply the reply that was written to last; if it keeps up, no other has fallen further behind. */
  written({ response: last }: Reply): void {
    if (last.writableLength <= last.writableHighWaterMark) return;
    let excess = this.waiting - this.limits.queuedTotal;
    if (excess <= 0) return;
    const furthestBehind = [...this.#open].sort(
      (a, b) => b.response.writableLength - a.response.writableLength,
    );
    for (const { response } of furthestBehind) {
      if (excess <= 0) return;
      excess -= response.writableLength;
      response.destroy();
    }
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  /** Ends connections whose unsent bytes have made no progress since the last check. */
  #cutOffStalled(): void {
    for (const reply of this.#open) {
      const { socket } = reply.response;
      const waiting = socket?.writableLength ?? 0;
      const accepted = (socket?.bytesWritten ?? 0) - waiting;
      if (waiting > 0 && accepted === reply.accepted) reply.response.destroy();
      reply.accepted = accepted;
    }
  }

  #keepAlive(): void {
    for (const reply of this.#open) if (reply.isStream) reply.write(": keepalive\n\n");
  }
}

/** A stream of events, to which the answer to a POST and what is sent before it may go. */
export interface EventStream {
  event(json: string): void;
  end(): void;
}

/**
 * Where the answer to a POST goes: to the body, as JSON, unless something is sent before it, which needs a stream.
 *
 * @param answer sends an answer or refusal as the body; undefined if there is none to send.
 */
export function postSend(
  openStream: () => EventStream,
  answer: (...sent: Parameters<Send>) => void,
): Send {
  let stream: EventStream | undefined;
  return (json, kind, problem) => {
    if (kind === "notification" || kind === "question") {
      stream ??= openStream();
      if (json !== undefined) stream.event(json);
    } else if (stream === undefined) answer(json, kind, problem);
    else {
      if (json !== undefined) stream.event(json);
      stream.end();
    }
  };
}
