import { randomUUID } from "node:crypto";
import {
  type JSONRPCMessage,
  type MessageExtraInfo,
  type RequestId,
  type Transport,
  type TransportSendOptions,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Runtime } from "../../bind/runtime.ts";
import type { Binding } from "../../bind/server.ts";
import { Subscriptions } from "../../bind/subscriptions.ts";
import type { OptionTable } from "../../define/options.ts";
import { internalError, isRequestId } from "../jsonrpc.ts";
import { withoutDump } from "../params.ts";
import type { Principal } from "./auth.ts";
import type { BoundedEventStore } from "./event-store.ts";

/** What a session tells those who keep it. */
export interface SessionEvents {
  opened(id: string): void;
  closed(): void;
}

/** One session of a legacy client: its own server, its own streams, and what it can resume. */
export class HttpSession {
  /** Whom it belongs to: another caller who learns its id is told that there is none. */
  readonly owner: string;
  readonly store: BoundedEventStore;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #guard: Guard;
  readonly #close: () => Promise<void>;
  #responses = 0;
  /** When it last heard of its client, in milliseconds of `performance.now()`. */
  #heard = performance.now();

  private constructor(
    owner: string,
    store: BoundedEventStore,
    parts: {
      transport: WebStandardStreamableHTTPServerTransport;
      guard: Guard;
      close: () => Promise<void>;
    },
  ) {
    this.owner = owner;
    this.store = store;
    this.#transport = parts.transport;
    this.#guard = parts.guard;
    this.#close = parts.close;
  }

  static async open<Context>(
    runtime: Runtime<Context, OptionTable>,
    binding: Binding<Context>,
    { owner, store, events }: { owner: string; store: BoundedEventStore; events: SessionEvents },
  ): Promise<HttpSession> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: store,
      onsessioninitialized: (id) => events.opened(id),
      maxRequestBodySize: runtime.options.maxMessageBytes,
    });
    const guard = new Guard(transport);
    const subscriptions = new Subscriptions(
      binding.watch,
      (uri) => void server.sendResourceUpdated({ uri }).catch(() => undefined),
      runtime.log,
    );
    const { server } = binding.connect("legacy", subscriptions);
    server.onerror = (error) => runtime.log.debug(error.message);
    guard.whenClosed = () => {
      events.closed();
      void subscriptions.close();
    };
    await server.connect(guard);
    return new HttpSession(owner, store, { transport, guard, close: () => server.close() });
  }

  /** The negotiated revision; undefined before. */
  get version(): string | undefined {
    return this.#guard.version;
  }

  /** Requests that are unanswered and whose stream is gone: their client may resume it, or never come back. */
  get unattended(): number {
    let count = 0;
    for (const { isLost } of this.#guard.pending.values()) if (isLost) count += 1;
    return count;
  }

  /** Whether its client neither waits for anything nor listens. */
  get isIdle(): boolean {
    return this.#responses === 0 && this.#guard.pending.size === 0;
  }

  get heard(): number {
    return this.#heard;
  }

  isPending(id: RequestId): boolean {
    return this.#guard.pending.has(id);
  }

  /** Whether the server asked with this id and waits for the answer. */
  isAsking(id: RequestId): boolean {
    return this.#guard.questions.has(id);
  }

  /**
   * @param body what was read already, for POST: a message or a batch.
   * @param whenClosed takes what to do when the response is over.
   */
  async serve(
    request: Request,
    body: JSONRPCMessage | readonly JSONRPCMessage[] | undefined,
    { authInfo }: Principal,
    whenClosed: (work: () => void) => void,
  ): Promise<Response> {
    this.#heard = performance.now();
    this.#responses += 1;
    whenClosed(() => {
      this.#responses -= 1;
      this.#heard = performance.now();
    });
    const response = await this.#transport.handleRequest(request, {
      ...(authInfo === undefined ? {} : { authInfo }),
      ...(body === undefined ? {} : { parsedBody: body }),
    });
    const served = this.#pendingOf(body);
    whenClosed(() => {
      for (const one of served) one.isLost = true;
    });
    return response;
  }

  #pendingOf(body: JSONRPCMessage | readonly JSONRPCMessage[] | undefined): Pending[] {
    const messages = body === undefined ? [] : [body].flat();
    return messages.flatMap((message) => {
      const id = "method" in message && "id" in message ? message.id : undefined;
      return (id === undefined ? undefined : this.#guard.pending.get(id)) ?? [];
    });
  }

  close(): Promise<void> {
    return this.#close();
  }
}

/** A request that is not answered. */
interface Pending {
  /** Whether the stream that it came with has ended. */
  isLost: boolean;
}

/**
 * Stands between the SDK's transport and its server: knows what is unanswered, and closes what a cancelled request
 * leaves open, which the transport (SDK 2.4) would keep for the life of the session.
 */
class Guard implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  whenClosed: () => void = () => undefined;
  version: string | undefined;
  readonly pending = new Map<RequestId, Pending>();
  readonly questions = new Set<RequestId>();
  readonly #inner: WebStandardStreamableHTTPServerTransport;

  constructor(inner: WebStandardStreamableHTTPServerTransport) {
    this.#inner = inner;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  start(): Promise<void> {
    this.#inner.onclose = () => {
      this.whenClosed();
      this.onclose?.();
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
      if ("method" in message && "id" in message) this.pending.set(message.id, { isLost: false });
      if (!("method" in message) && message.id !== undefined) this.questions.delete(message.id);
      this.onmessage?.(message, extra);
      if ("method" in message && message.method === "notifications/cancelled") {
        const id = message.params?.requestId;
        if (isRequestId(id) && this.pending.has(id)) void this.#abandon(id);
      }
    };
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const { relatedRequestId } = options ?? {};
    const related = relatedRequestId === undefined ? {} : { relatedRequestId };
    if ("method" in message) {
      if ("id" in message) this.questions.add(message.id);
      const taken = message.method === "notifications/cancelled" ? message.params?.requestId : undefined;
      if (isRequestId(taken)) this.questions.delete(taken);
      return this.#inner.send(message, related);
    }
    if (message.id !== undefined && !this.pending.delete(message.id)) return;
    const kept = "error" in message ? { ...message, error: { ...withoutDump(message.error) } } : message;
    return this.#inner.send(kept, related);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.version = version;
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.#inner.setSupportedProtocolVersions(versions);
  }

  /** Ends the stream of a cancelled request; what is sent then only makes the transport forget the request. */
  async #abandon(id: RequestId): Promise<void> {
    this.pending.delete(id);
    this.#inner.closeSSEStream(id);
    await this.#inner
      .send({ jsonrpc: "2.0", id, error: internalError("The request was cancelled.") })
      .catch(() => undefined);
  }
}
