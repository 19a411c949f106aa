import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";
import type { Runtime } from "../bind/runtime.ts";
import { bind } from "../bind/server.ts";
import type { Session } from "../bind/session.ts";
import { Subscriptions } from "../bind/subscriptions.ts";
import { asUri } from "../bind/uri.ts";
import type { OptionTable } from "../define/options.ts";

/** A connection being served. */
export interface Connection {
  close(): Promise<void>;
}

/**
 * Serves one client over a long-lived transport (stdio, or a pair in memory). The SDK decides the era by the
 * opening message; what it has no hook for is observed on the way in: which resources a modern client listens to.
 */
export function serveConnection<Context>(
  runtime: Runtime<Context, OptionTable>,
  transport: Transport,
): Connection {
  const binding = bind(runtime);
  let session: Session<Context> | undefined;
  const subscriptions = new Subscriptions(
    binding.watch,
    (uri) => void session?.server.sendResourceUpdated({ uri }).catch(() => undefined),
    runtime.log,
  );
  const listening = new Listening(transport, subscriptions, (note) => runtime.log.warning(note));
  const handle = serveStdio(
    ({ era }) => {
      session = binding.connect(era, subscriptions);
      return session.server;
    },
    { transport: listening, onerror: (error) => runtime.log.debug(error.message) },
  );
  return {
    async close() {
      await handle.close();
      await subscriptions.close();
    },
  };
}

const listenFilter = z.looseObject({
  notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }),
});
const cancellation = z.looseObject({ requestId: z.union([z.string(), z.number()]) });

/**
 * Passes messages on, and watches what `subscriptions/listen` asks for before the request goes on, so that no
 * change after the acknowledgement is missed. A URI that cannot be watched is taken out of the filter; the
 * acknowledgement then names only what is honoured (MCP 2026-07-28, "Subscriptions").
 */
class Listening implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  readonly #inner: Transport;
  readonly #subscriptions: Subscriptions;
  readonly #warn: (note: string) => void;
  readonly #watched = new Map<RequestId, string[]>();

  constructor(inner: Transport, subscriptions: Subscriptions, warn: (note: string) => void) {
    this.#inner = inner;
    this.#subscriptions = subscriptions;
    this.#warn = warn;
  }

  start(): Promise<void> {
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
      const method = "method" in message ? message.method : undefined;
      if (method === "subscriptions/listen" && isJSONRPCRequest(message)) {
        void this.#listen(message).then((narrowed) => {
          if (narrowed !== undefined) this.onmessage?.(narrowed, extra);
        });
        return;
      }
      if (method === "notifications/cancelled" && isJSONRPCNotification(message)) {
        this.#unlisten(cancellation.safeParse(message.params).data?.requestId);
      }
      this.onmessage?.(message, extra);
    };
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  /** The request with the URIs that are watched now; undefined where it was cancelled meanwhile. */
  async #listen(request: JSONRPCRequest): Promise<JSONRPCRequest | undefined> {
    const params = listenFilter.safeParse(request.params).data;
    if (params === undefined || this.#watched.has(request.id)) return request;
    const watched: string[] = [];
    this.#watched.set(request.id, watched);
    for (const uri of new Set(params.notifications.resourceSubscriptions.map(asUri))) {
      try {
        await this.#subscriptions.add(uri);
        watched.push(uri);
      } catch (error) {
        this.#warn(`Cannot watch ${uri}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (!this.#watched.has(request.id)) {
      await this.#release(watched);
      return undefined;
    }
    const notifications = { ...params.notifications, resourceSubscriptions: watched };
    return { ...request, params: { ...request.params, notifications } };
  }

  #unlisten(id: RequestId | undefined): void {
    const watched = id === undefined ? undefined : this.#watched.get(id);
    if (id === undefined || watched === undefined) return;
    this.#watched.delete(id);
    void this.#release(watched.splice(0));
  }

  async #release(uris: readonly string[]): Promise<void> {
    for (const uri of uris) await this.#subscriptions.remove(uri);
  }
}
