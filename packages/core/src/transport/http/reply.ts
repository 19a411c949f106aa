import type { ServerResponse } from "node:http";
import { errorText } from "../../protocol/errors.ts";
import type { Revision } from "../../protocol/revisions.ts";
import { CODES, type RequestId, type RpcError } from "../../protocol/wire.ts";

/** Limits on unsent data for clients that do not read. */
export interface SlowReaderLimits {
  /** Maximum unsent bytes for one client; a further event ends its stream. */
  readonly queued: number;
  /** Maximum unsent bytes for all clients together; beyond it, the client furthest behind is disconnected. */
  readonly queuedTotal: number;
  /** How long unsent data may make no progress, in milliseconds. */
  readonly stalledMs: number;
}

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

  /** Begins a stream of events. */
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
    this.response.end();
  }

  /** Sends everything written in one turn of the event loop together: the headers with the first events. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.response.cork();
    setImmediate(() => {
      this.#isGathering = false;
      if (!this.response.destroyed) this.response.uncork();
    });
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

  /** Bytes currently waiting for clients. */
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

/** A complete HTTP response. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A JSON document as an HTTP response. */
export function jsonAnswer(status: number, value: unknown, headers: Answer["headers"] = {}): Answer {
  return textAnswer(status, JSON.stringify(value), headers);
}

/** @param json JSON text. */
export function textAnswer(status: number, json: string, headers: Answer["headers"] = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: json };
}

/** A JSON-RPC error as an HTTP response. @param revision the current one, if any. */
export function rpcAnswer(
  status: number,
  error: RpcError,
  {
    id,
    revision,
    headers,
  }: { id?: RequestId; revision?: Revision | undefined; headers?: Answer["headers"] } = {},
): Answer {
  return textAnswer(status, errorText(id, error, revision), headers);
}

/** A refusal by the transport. */
export function refuse(status: number, message: string, headers: Answer["headers"] = {}): Answer {
  return rpcAnswer(status, { code: CODES.refused, message }, { headers });
}
