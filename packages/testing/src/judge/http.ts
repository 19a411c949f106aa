import type { Findings } from "./finding.ts";
import {
  type Id,
  Inbox,
  type Json,
  type Link,
  listOf,
  MAX_MESSAGE_BYTES,
  objectOf,
  type Reply,
} from "./link.ts";

export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Received {
  readonly status: number;
  readonly type: string;
  readonly messages: readonly unknown[];
  readonly bytes: number;
  readonly body: string;
}

/** A server over Streamable HTTP. */
export class HttpLink implements Link {
  /** From initialize on: the session and the negotiated revision. */
  readonly #own = new Map<string, string>();
  readonly #endpoint: Endpoint;
  readonly #inbox: Inbox;
  readonly #findings: Findings;
  readonly #era: string;

  constructor(endpoint: Endpoint, findings: Findings, era: string) {
    this.#endpoint = endpoint;
    this.#inbox = new Inbox(findings, era);
    this.#findings = findings;
    this.#era = era;
  }

  get strays(): readonly Json[] {
    return this.#inbox.strays;
  }
  get isOpen(): boolean {
    return true;
  }
  get session(): string | undefined {
    return this.#own.get("mcp-session-id");
  }

  /** Names the negotiated revision from now on. */
  negotiated(version: string): void {
    this.#own.set("mcp-protocol-version", version);
  }

  async ask(id: Id, text: string, timeoutMs: number): Promise<Reply> {
    const start = performance.now();
    let found: { message: Json; bytes: number } | undefined;
    const forget = this.#inbox.wait(id, (message, bytes) => {
      found = { message, bytes };
    });
    const without = (missing: NonNullable<Reply["missing"]>, bytes = 0): Reply => {
      return { message: undefined, missing, bytes, ms: performance.now() - start };
    };
    try {
      const received = await this.send("POST", text, this.#headersOf(text), timeoutMs);
      if (received === undefined) return without("timeout");
      if (received.bytes > MAX_MESSAGE_BYTES) return without("too large", received.bytes);
      this.#takeAll(received);
      const ms = performance.now() - start;
      const { status } = received;
      if (found === undefined) return { ...without("not JSON-RPC", received.bytes), status };
      if (!/^(?:application\/json|text\/event-stream)\b/.test(received.type))
        this.#findings.add(
          "http-answer-type",
          this.#era,
          text,
          `Content-Type: ${received.type || "none"}`,
        );
      return { ...found, ms, status };
    } catch {
      return without("closed");
    } finally {
      forget();
    }
  }

  async tell(text: string | Uint8Array): Promise<void> {
    const headers = this.#headersOf(text.toString());
    const received = await this.send("POST", text, headers, 30_000).catch(() => undefined);
    // The body of a refusal may be an error without an id.
    if (received !== undefined && received.status < 300) this.#takeAll(received);
  }

  #takeAll({ messages, bytes }: Received): void {
    for (const message of messages) {
      const answer = this.#inbox.take(message, bytes);
      if (answer !== undefined) void this.tell(answer);
    }
  }

  /** The headers that 2026-07-28 mirrors from the body ("Streamable HTTP: request metadata"). */
  #headersOf(text: string): Iterable<[string, string]> {
    if (this.#era !== "2026-07-28" || text.length > 4_000_000) return this.#own;
    const { method, params } = objectOf(parsed(text));
    const { _meta, name, uri } = objectOf(params);
    const version = objectOf(_meta)["io.modelcontextprotocol/protocolVersion"];
    const headers = {
      "mcp-protocol-version": version,
      "mcp-method": method,
      "mcp-name": name ?? uri,
    };
    return Object.entries(headers).filter(
      (one): one is [string, string] => typeof one[1] === "string",
    );
  }

  /** One HTTP request. @returns nothing after the time limit. @throws if there is no connection. */
  async send(
    method: string,
    body: string | Uint8Array | undefined,
    headers: Iterable<[string, string]>,
    timeoutMs: number,
  ): Promise<Received | undefined> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), timeoutMs);
    try {
      const response = await fetch(this.#endpoint.url, {
        method,
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
        headers: {
          ...this.#endpoint.headers,
          accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
          "content-type": "application/json",
          ...Object.fromEntries(headers),
        },
        signal: controller.signal,
      });
      const session = response.headers.get("mcp-session-id");
      if (session !== null) this.#own.set("mcp-session-id", session);
      const type = response.headers.get("content-type") ?? "";
      // A stream that was opened with GET has no end.
      const isStream = method === "GET" && type.startsWith("text/event-stream");
      const bytes = isStream ? Buffer.alloc(0) : await limited(response, type);
      if (isStream) await response.body?.cancel();
      const text = bytes.toString("utf8");
      return {
        status: response.status,
        type,
        messages: messagesIn(text, type),
        bytes: bytes.length,
        body: text,
      };
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get headers(): Iterable<[string, string]> {
    return this.#own;
  }

  async close(): Promise<void> {
    if (this.session === undefined) return;
    await this.send("DELETE", undefined, this.#own, 5_000).catch(() => undefined);
    this.#own.delete("mcp-session-id");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body, up to a little more than the longest message; of an event stream, up to the response. */
async function limited(response: Response, type: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (
    let part = await reader?.read();
    part !== undefined && !part.done;
    part = await reader?.read()
  ) {
    const value: Uint8Array = part.value;
    parts.push(value);
    length += value.length;
    const isLast =
      type.startsWith("text/event-stream") && length < 1_000_000
        ? messagesIn(Buffer.concat(parts).toString("utf8"), type).some(
            (one) => !("method" in objectOf(one)),
          )
        : false;
    if (!isLast && length <= MAX_MESSAGE_BYTES) continue;
    await reader?.cancel().catch(() => undefined);
    break;
  }
  return Buffer.concat(parts);
}

function messagesIn(text: string, type: string): readonly unknown[] {
  if (!type.startsWith("text/event-stream")) {
    const message = parsed(text);
    return message === undefined || message === null ? [] : [message];
  }
  return text.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).replace(/^ /, ""));
    const message = data.length === 0 ? undefined : parsed(data.join("\n"));
    return message === undefined ? [] : listOf([message]);
  });
}
