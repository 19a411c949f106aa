import type { IncomingMessage, ServerResponse } from "node:http";

/** How much may wait for clients that do not read, and for how long. */
export interface SlowReaderLimits {
  /** Most bytes that wait for one client before a further event ends its stream. */
  readonly queued: number;
  /** Most bytes that wait for all clients together; beyond it, the one furthest behind is cut off. */
  readonly queuedTotal: number;
  /** How long what waits may make no progress, in milliseconds. */
  readonly stalledMs: number;
}

/** A request of Node as the SDK takes one; its signal aborts when the client goes away. The body is read elsewhere. */
export function toWebRequest(request: IncomingMessage, response: ServerResponse): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return new Request("http://localhost/mcp", {
    method: request.method ?? "GET",
    headers,
    signal: gone.signal,
  });
}

/**
 * Writes the responses of the SDK. Its streams know no backpressure, so what clients do not read would pile up: a
 * client that is too far behind, or that reads nothing for too long, is cut off. A legacy one can resume.
 */
export class Outbox {
  readonly #limits: SlowReaderLimits;
  readonly #open = new Set<ServerResponse>();

  constructor(limits: SlowReaderLimits) {
    this.#limits = limits;
  }

  /** Bytes that wait for clients now. */
  get waiting(): number {
    let bytes = 0;
    for (const response of this.#open) bytes += response.writableLength;
    return bytes;
  }

  async send(web: Response, response: ServerResponse): Promise<void> {
    if (response.destroyed) {
      await web.body?.cancel();
      return;
    }
    response.statusCode = web.status;
    for (const [name, value] of web.headers) response.setHeader(name, value);
    if (web.body === null) {
      response.end();
      return;
    }
    const stop = cutOffWhenStalled(response, this.#limits.stalledMs);
    this.#open.add(response);
    response.once("close", () => {
      stop();
      this.#open.delete(response);
    });
    try {
      const isJson = web.headers.get("content-type")?.startsWith("application/json") === true;
      if (isJson) response.end(await web.text());
      else await this.#stream(web.body, response);
      this.#cutOffFurthestBehind(response);
    } catch {
      response.destroy();
    }
  }

  async #stream(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
    const reader = body.getReader();
    response.once("close", () => void reader.cancel().catch(() => undefined));
    const gather = gatherer(response);
    for (;;) {
      gather();
      const { done, value } = await reader.read();
      if (done) break;
      if (response.writableLength > this.#limits.queued) {
        response.destroy();
        return;
      }
      response.write(value);
      this.#cutOffFurthestBehind(response);
    }
    response.end();
  }

  /** @param written what was written to last: as long as it keeps up, nobody has fallen further behind. */
  #cutOffFurthestBehind(written: ServerResponse): void {
    if (written.writableLength <= written.writableHighWaterMark) return;
    let excess = this.waiting - this.#limits.queuedTotal;
    for (const response of [...this.#open].sort((a, b) => b.writableLength - a.writableLength)) {
      if (excess <= 0) return;
      excess -= response.writableLength;
      this.#open.delete(response);
      response.destroy();
    }
  }
}

/** Sends in one piece what is written in one turn of the loop: the headers with the first events. */
function gatherer(response: ServerResponse): () => void {
  let isGathering = false;
  return () => {
    if (isGathering) return;
    isGathering = true;
    response.cork();
    setImmediate(() => {
      isGathering = false;
      if (response.writableEnded || response.destroyed) return;
      if (!response.headersSent) response.flushHeaders();
      response.uncork();
    });
  };
}

/** Ends a connection on which bytes wait and none has gone out since the last look. */
function cutOffWhenStalled(response: ServerResponse, stalledMs: number): () => void {
  let before = -1;
  const timer = setInterval(() => {
    const { socket } = response;
    const waiting = (socket?.writableLength ?? 0) > 0;
    const sent = (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0);
    if (waiting && sent === before) response.destroy();
    before = sent;
  }, stalledMs);
  timer.unref();
  return () => clearInterval(timer);
}
