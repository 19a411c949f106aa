import type { IncomingMessage, ServerResponse } from "node:http";

/** How much may wait for a client that does not read, and for how long. */
export interface SlowReaderLimits {
  /** Most bytes that wait before a further event ends the stream. */
  readonly queued: number;
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
 * Writes a response of the SDK. Its streams know no backpressure, so what a client does not read would pile up: a
 * client that is too far behind, or that reads nothing for too long, is cut off. A legacy one can resume.
 */
export async function sendWebResponse(
  web: Response,
  response: ServerResponse,
  limits: SlowReaderLimits,
): Promise<void> {
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
  const stop = cutOffWhenStalled(response, limits.stalledMs);
  response.flushHeaders();
  const reader = web.body.getReader();
  response.once("close", () => {
    stop();
    reader.cancel().catch(() => undefined);
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (response.writableLength > limits.queued) {
        response.destroy();
        return;
      }
      response.write(value);
    }
    response.end();
  } catch {
    response.destroy();
  }
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
