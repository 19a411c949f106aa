import { reasonOf, ToolError } from "@refmcp/boundary/answer";
import type { Unwatch } from "../define/resource.ts";
import { type Caller, notificationText } from "./caller.ts";
import { internalError, ProtocolError } from "./errors.ts";
import type { Load } from "./load.ts";
import { asUri } from "./message.ts";
import type { ClientRequest } from "./request.ts";
import type { Service } from "./service.ts";
import { META } from "./wire.ts";

/** Who is notified of a resource's changes: a stream, or a caller that subscribed after a handshake. */
type Subscriber = ClientRequest | Caller;

interface Watch {
  /** The request that it started for. */
  readonly request: ClientRequest;
  /** Each subscriber with its callback, and how many requests asked for it and were not cancelled. */
  readonly subscribers: Map<Subscriber, { readonly onUpdate: () => void; requests: number }>;
  /** Resolves when watching has started, with the function that stops it. */
  readonly whenStarted: Promise<Unwatch | undefined>;
}

/** An open stream: what it was granted (undefined before, when nothing else is sent), and the resources that it watches. */
interface Stream {
  grants: { resourceSubscriptions?: string[]; resourcesListChanged?: true } | undefined;
  readonly watchedUris: string[];
}

const UPDATED = "notifications/resources/updated";

/**
 * The subscriptions of all callers: which resources are watched for whom, and the streams of `subscriptions/listen`. The
 * first subscriber of a resource starts its watch, the last one stops it.
 */
export class Subscriptions {
  readonly #service: Service;
  readonly #load: Load;
  readonly #watches = new Map<string, Watch>();
  readonly #streams = new Map<ClientRequest, Stream>();

  constructor(service: Service, load: Load) {
    this.#service = service;
    this.#load = load;
  }

  /** Subscribes the caller of a request. */
  async subscribe(uri: string, request: ClientRequest): Promise<void> {
    const { caller } = request;
    const text = notificationText(UPDATED, { uri });
    await this.#watch(uri, caller, request, () => caller.send?.(text, "notification"));
  }

  /** @throws what starting the watch throws; then nothing is subscribed. */
  async #watch(uri: string, subscriber: Subscriber, request: ClientRequest, onUpdate: () => void) {
    const { watches } = this.#load;
    let watch = this.#watches.get(uri);
    if (watch === undefined) {
      if (!watches.take(request.caller.owner))
        throw new ToolError("too_large", `At most ${watches.perOwner} resources can be watched.`, {
          hint: "Unsubscribe from some, or subscribe to a resource that covers several.",
        });
      const whenStarted = this.#service.watch(uri, () => this.resourceChanged(uri), request);
      watch = { request, subscribers: new Map(), whenStarted: Promise.resolve(whenStarted) };
      this.#watches.set(uri, watch);
    }
    const subscription = watch.subscribers.get(subscriber) ?? { onUpdate, requests: 0 };
    subscription.requests += 1;
    watch.subscribers.set(subscriber, subscription);
    request.whenAborted(() => {
      subscription.requests -= 1;
      const current = this.#watches.get(uri)?.subscribers.get(subscriber);
      if (subscription.requests === 0 && current === subscription)
        void this.unsubscribe(uri, subscriber);
    });
    try {
      await watch.whenStarted;
    } catch (error) {
      this.#forget(uri, watch);
      if (watch.request === request || !watch.subscribers.has(subscriber)) throw error;
      // It may have failed only for the request that it started for, which was cancelled or timed out.
      await this.#watch(uri, subscriber, request, onUpdate);
    }
  }

  async unsubscribe(uri: string, subscriber: Subscriber): Promise<void> {
    const watch = this.#watches.get(uri);
    if (watch?.subscribers.delete(subscriber) !== true || watch.subscribers.size > 0) return;
    this.#forget(uri, watch);
    try {
      // If it failed to start, its requests report it.
      const unwatch = await watch.whenStarted.catch(() => undefined);
      await unwatch?.();
    } catch (error) {
      this.#service.log.warning(`Could not stop watching ${uri}: ${String(error)}`);
    }
  }

  #forget(uri: string, watch: Watch): void {
    if (this.#watches.get(uri) !== watch) return;
    this.#watches.delete(uri);
    this.#load.watches.count(-1, watch.request.caller.owner);
  }

  /** Unsubscribes a caller from all resources. */
  async leave(caller: Caller): Promise<void> {
    await Promise.all([...this.#watches.keys()].map((uri) => this.unsubscribe(uri, caller)));
  }

  /** Notifies the subscribers of a resource. @param uri may be one that RFC 3986 does not allow. */
  resourceChanged(uri: string): void {
    this.#watches.get(asUri(uri))?.subscribers.forEach(({ onUpdate }) => void onUpdate());
  }

  /** Notifies the streams that subscribed to the list of resources. */
  resourcesChanged(): void {
    for (const [request, { grants }] of this.#streams)
      if (grants?.resourcesListChanged === true)
        notify(request, "notifications/resources/list_changed", {});
  }

  /**
   * Opens a stream: first starts watching, so that no change after the acknowledgement is missed, then acknowledges the
   * granted subscriptions. Its request stays open. The lists of tools and prompts never change.
   *
   * @throws ProtocolError -32603 if too many are open.
   */
  async open(request: ClientRequest): Promise<never> {
    if (!this.#load.streams.take(request.caller.owner))
      throw new ProtocolError(internalError("Subscription limit reached"));
    const { resourceSubscriptions = [], resourcesListChanged } = Object(
      request.params.notifications,
    );
    const stream: Stream = { grants: undefined, watchedUris: [] };
    this.#streams.set(request, stream);
    request.whenAborted(() => this.#close(request, stream));
    const can = this.#service.capabilities("modern").resources;
    const failures: string[] = [];
    const uris: string[] = can?.subscribe === true ? resourceSubscriptions.map(asUri) : [];
    for (const uri of new Set(uris)) {
      const onUpdate = () => stream.grants !== undefined && notify(request, UPDATED, { uri });
      try {
        await this.#watch(uri, request, request, onUpdate);
        stream.watchedUris.push(uri);
      } catch (error) {
        failures.push(`${uri}: ${reasonOf(error)}`);
      }
      if (request.isOver) break;
    }
    const suffix = failures.length > 1 ? ` (and ${failures.length - 1} more)` : "";
    if (failures.length > 0) this.#service.log.warning(`Cannot watch ${failures[0]}${suffix}`);
    const grants: NonNullable<Stream["grants"]> = {};
    if (stream.watchedUris.length > 0) grants.resourceSubscriptions = [...stream.watchedUris];
    if (resourcesListChanged === true && can?.listChanged === true)
      grants.resourcesListChanged = true;
    notify(request, "notifications/subscriptions/acknowledged", { notifications: grants });
    stream.grants = grants;
    // It may stay open for days.
    request.params = {};
    if (request.isOver) this.#close(request, stream);
    else if (Object.keys(grants).length === 0) this.end(request);
    return new Promise(() => undefined);
  }

  /**
   * Ends a stream, if it is open: with a notification ("Cancellation": MUST) and a result ("Subscriptions": SHOULD; MCP
   * 2026-07-28).
   */
  end(request: ClientRequest): void {
    const stream = this.#streams.get(request);
    if (stream === undefined) return;
    const reason = "The server ends this subscription.";
    notify(request, "notifications/cancelled", { requestId: request.id, reason });
    this.#close(request, stream);
    request.answer({ _meta: { [META.subscriptionId]: request.id } });
  }

  #close(request: ClientRequest, { watchedUris }: Stream): void {
    if (this.#streams.delete(request)) this.#load.streams.count(-1, request.caller.owner);
    for (const uri of watchedUris.splice(0)) void this.unsubscribe(uri, request);
  }
}

function notify(request: ClientRequest, method: string, params: object): void {
  request.notify(method, { ...params, _meta: { [META.subscriptionId]: request.id } });
}
