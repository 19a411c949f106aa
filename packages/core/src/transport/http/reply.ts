import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { errorText } from "../../engine/errors.ts";
import type { Limit } from "../../engine/load.ts";
import { CODES, type RpcError } from "../../engine/wire.ts";
import type { HttpLimits } from "./settings.ts";

export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(", ") : value)?.trim();
}

/** A complete response: a body, or a JSON-RPC error without the id of a request. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly error?: RpcError;
}

const JSON_TYPE = { "content-type": "application/json" };

export function jsonAnswer(status: number, value: unknown, headers = {}): Answer {
  return { status, body: JSON.stringify(value), headers: { ...JSON_TYPE, ...headers } };
}

/** A request that is not served: the client's fault, or the server has no room for it now. */
export function refuse(status: number, message: string, headers = {}): Answer {
  const code = status === 429 || status >= 500 ? CODES.internalError : CODES.invalidRequest;
  return errorAnswer(status, { code, message }, headers);
}

/** Counts a session or connection of a caller, or returns a response if there is no room for it. */
export function takeSlot(slots: Limit, owner: string): Answer | undefined {
  const message = "There is no room for another session or connection; try again later.";
  return slots.take(owner) ? undefined : refuse(503, message, { "retry-after": "5" });
}

export function errorAnswer(status: number, error: RpcError, headers = {}): Answer {
  return { status, error, headers: { ...JSON_TYPE, ...headers } };
}

/** The text of an answer to a request with these headers. */
export function bodyOf({ body, error }: Answer, headers: IncomingHttpHeaders): string {
  const version = headerOf(headers, "mcp-protocol-version");
  return body ?? (error === undefined ? "" : errorText(undefined, error, version));
}

type SlowReaderLimits = Pick<HttpLimits, "queued" | "stalledMs">;

/** How often a stream sends a keepalive for intermediaries, in milliseconds. */
const KEEP_ALIVE_MS = 15_000;

/**
 * An HTTP response: a complete answer, or a stream of server-sent events. Writes after its end are dropped. Node.js
 * buffers unread data without limit, so a client that is too far behind, or reads nothing for too long, is disconnected.
 */
export class Reply {
  readonly response: ServerResponse;
  readonly #limits: SlowReaderLimits;
  readonly #whenClosed: (() => void)[] = [];

  constructor(response: ServerResponse, limits: SlowReaderLimits) {
    this.response = response;
    this.#limits = limits;
    response.once("close", () => {
      for (const work of this.#whenClosed) work();
    });
  }

  get #isClosed(): boolean {
    return this.response.closed || this.response.destroyed;
  }

  get isStream(): boolean {
    return this.response.headersSent;
  }

  /** Calls `work` when the response has ended, for any reason. */
  whenClosed(work: () => void): void {
    if (this.response.closed) work();
    else this.#whenClosed.push(work);
  }

  /** @param extraHeaders headers in addition to those of the answer. */
  send(answer: Answer, extraHeaders: Answer["headers"] = {}): void {
    const { response } = this;
    if (this.#isClosed || response.headersSent) return;
    const body = bodyOf(answer, response.req.headers);
    const length = { "content-length": Buffer.byteLength(body) };
    this.#begin();
    response.writeHead(answer.status, { ...answer.headers, ...extraHeaders, ...length });
    response.end(body);
  }

  /** Begins a stream, unless it has begun. */
  openStream(headers: Answer["headers"] = {}): void {
    if (this.#isClosed || this.response.headersSent) return;
    this.#begin();
    this.response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      ...headers,
    });
    this.response.flushHeaders();
    const timer = setInterval(() => this.write(": keepalive\n\n"), KEEP_ALIVE_MS).unref();
    this.whenClosed(() => clearInterval(timer));
  }

  #begin(): void {
    // Restarted by every write, and while unsent bytes make progress.
    this.response.setTimeout(this.#limits.stalledMs, () => this.response.destroy());
  }

  /** @param json a message as JSON text. */
  event(json: string): void {
    this.write(`event: message\ndata: ${json}\n\n`);
  }

  write(text: string): void {
    if (this.#isClosed || this.response.writableEnded) return;
    if (this.response.writableLength > this.#limits.queued) this.response.destroy();
    else this.response.write(text);
  }

  end(): void {
    if (!this.#isClosed) this.response.end();
  }
}
