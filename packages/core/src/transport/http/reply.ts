import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { errorText } from "../../protocol/errors.ts";
import type { Load } from "../../protocol/load.ts";
import type { Sink } from "../../protocol/request.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { CODES, type RequestId, type RpcError } from "../../protocol/wire.ts";
import type { HttpLimits } from "./settings.ts";

export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(", ") : value)?.trim();
}

export type Body =
  | { readonly kind: "text"; readonly text: string; readonly bytes: number }
  | { readonly kind: "too-large" }
  | { readonly kind: "too-many" }
  | { readonly kind: "not-utf8" }
  | { readonly kind: "gone" };

/**
 * Reads a body within two limits: `maxBytes` for one body, and `load` for all messages of a process. Its bytes count while it is being read;
 * afterwards its requests count them.
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
    const stop = (body: Body) => {
      request.off("data", take);
      request.pause();
      end(body);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      load.bytes.count(chunk.length);
      if (size > maxBytes) stop({ kind: "too-large" });
      else if (!load.hasRoomForBytes(size, 0)) stop({ kind: "too-many" });
      else chunks.push(chunk);
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
  taken = -1;

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

  send({ status, headers = {}, body = "" }: Answer): void {
    if (this.isClosed || this.response.headersSent) return;
    this.#outbox.add(this);
    this.response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
    this.response.end(body);
    this.#outbox.written(this);
  }

  openStream(headers: Readonly<Record<string, string>> = {}): this {
    if (this.isClosed || this.response.headersSent) return this;
    this.#outbox.add(this);
    this.#gather();
    this.response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      ...headers,
    });
    this.response.flushHeaders();
    return this;
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
    for (const { response } of [...this.#open].sort(
      (a, b) => b.response.writableLength - a.response.writableLength,
    )) {
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
      const taken = (socket?.bytesWritten ?? 0) - waiting;
      if (waiting > 0 && taken === reply.taken) reply.response.destroy();
      reply.taken = taken;
    }
  }

  #keepAlive(): void {
    for (const reply of this.#open) if (reply.isStream) reply.write(": keepalive\n\n");
  }
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Answer["headers"] = {},
): Answer {
  return textAnswer(status, JSON.stringify(value), headers);
}

export function textAnswer(status: number, json: string, headers: Answer["headers"] = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: json };
}

/** A JSON-RPC error as an HTTP response. @param revision the current one, if any. */
export function rpcAnswer(
  status: number,
  error: RpcError,
  about: {
    id?: RequestId | undefined;
    revision?: Revision | undefined;
    headers?: Answer["headers"];
  } = {},
): Answer {
  return textAnswer(status, errorText(about.id, error, about.revision), about.headers);
}

/** A request that is not served: the client's fault, or the server has no room for it now. */
export function refuse(status: number, message: string, headers: Answer["headers"] = {}): Answer {
  const code = status === 429 || status >= 500 ? CODES.internalError : CODES.invalidRequest;
  return rpcAnswer(status, { code, message }, { headers });
}

/**
 * Where the answers to a POST go: one answer as JSON, but with a stream of events if anything is sent before it.
 *
 * @param answers how many there will be.
 */
export function postSink(
  reply: Reply,
  answers: number,
  options: {
    readonly headers?: Answer["headers"];
    /** The status of an answer as JSON. Default: 200. */
    readonly statusOf?: ((error: RpcError | undefined) => number) | undefined;
    readonly openStream: () => { event(json: string): void; end(): void };
  },
): Sink {
  let open = answers;
  let stream: ReturnType<typeof options.openStream> | undefined;
  const event = (json: string) => {
    stream ??= options.openStream();
    stream.event(json);
  };
  return {
    answer(json, error) {
      open -= 1;
      if (open === 0 && stream === undefined && json !== undefined)
        return reply.send(textAnswer(options.statusOf?.(error) ?? 200, json, options.headers));
      if (json !== undefined) event(json);
      if (open > 0) return;
      stream ??= options.openStream();
      stream.end();
    },
    notify: (method, params) => event(JSON.stringify({ jsonrpc: "2.0", method, params })),
    ask: event,
  };
}
