import { ToolError } from "@refmcp/boundary/answer";
import type { Unwatch } from "../define/resource.ts";
import { type Caller, notificationText } from "./caller.ts";
import { internalError, ProtocolError } from "./errors.ts";
import type { Load } from "./load.ts";
import { asUri } from "./message.ts";
import { ClientRequest, LATER } from "./request.ts";
import type { Service } from "./service.ts";
import { requireTasks } from "./tasks.ts";
import { META } from "./wire.ts";

/** Who is notified of a resource's changes: a stream, or a caller that subscribed after a handshake. */
type Subscriber = ClientRequest | Caller;

interface Watch {
  readonly subscribers: Set<Subscriber>;
  /** Resolves when watching has started, with the function that stops it. */
  readonly started: Promise<Unwatch | undefined>;
}

/** What a stream is subscribed to (MCP 2026-07-28, `SubscriptionFilter`). */
interface Acknowledged {
  toolsListChanged?: true;
  promptsListChanged?: true;
  resourcesListChanged?: true;
  resourceSubscriptions?: string[];
  taskIds?: string[];
}
const LISTS = ["tools", "prompts", "resources"] as const;

interface Stream {
  readonly acknowledged: Acknowledged;
  /** The functions that end following tasks. */
  readonly followed: readonly (() => void)[];
}

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

  /** @throws what starting the watch throws; then nothing is subscribed. */
  async subscribe(uri: string, subscriber: Subscriber, request: ClientRequest): Promise<void> {
    for (let watch = this.#watches.get(uri); watch !== undefined; watch = this.#watches.get(uri)) {
      watch.subscribers.add(subscriber);
      try {
        await watch.started;
        return;
      } catch {
        // The request that started it failed or was cancelled, so this one tries again.
      }
    }
    const { watches } = this.#load;
    if (!watches.take())
      throw new ToolError("too_large", `At most ${watches.all} resources can be watched at once.`, {
        hint: "Unsubscribe from some, or subscribe to a resource that covers several.",
      });
    const changed = () => this.changed(uri);
    const started = Promise.resolve(this.#service.watch(uri, changed, request));
    const watch = { subscribers: new Set([subscriber]), started };
    this.#watches.set(uri, watch);
    try {
      await started;
    } catch (error) {
      this.#forgetWatch(uri, watch);
      throw error;
    }
  }

  async unsubscribe(uri: string, subscriber: Subscriber): Promise<void> {
    const watch = this.#watches.get(uri);
    if (watch === undefined || !watch.subscribers.delete(subscriber)) return;
    if (watch.subscribers.size > 0) return;
    this.#forgetWatch(uri, watch);
    try {
      const unwatch = await watch.started;
      await unwatch?.();
    } catch (error) {
      this.#service.log.warning(`Could not stop watching ${uri}: ${String(error)}`);
    }
  }

  #forgetWatch(uri: string, watch: Watch): void {
    if (this.#watches.get(uri) !== watch) return;
    this.#watches.delete(uri);
    this.#load.watches.count(-1);
  }

  /**
   * Opens a stream: first starts watching, so that no change after the acknowledgement is missed, then acknowledges the
   * granted subscriptions.
   *
   * @throws ProtocolError -32603 if too many are open.
   */
  async open(request: ClientRequest): Promise<typeof LATER> {
    const filter = Object(request.params.notifications);
    const taskIds: readonly string[] = filter.taskIds ?? [];
    if (taskIds.length > 0) requireTasks(request);
    if (!this.#load.streams.take())
      throw new ProtocolError(internalError("Subscription limit reached"));
    // Nothing is sent before the acknowledgement.
    this.#streams.set(request, { acknowledged: {}, followed: [] });
    request.whenAborted(() => this.#forgetStream(request));
    const can = this.#service.capabilities("modern");
    const wanted: readonly unknown[] =
      can.resources?.subscribe === true ? (filter.resourceSubscriptions ?? []) : [];
    const watched = await this.#watchAll(new Set(wanted.map((uri) => asUri(String(uri)))), request);
    if (request.isOver) {
      await this.#release(watched, request);
      return LATER;
    }
    const { tasks } = this.#service;
    const knownTasks = tasks.known(request, taskIds);
    const acknowledged: Acknowledged = {
      ...(watched.length > 0 && { resourceSubscriptions: watched }),
      ...(knownTasks.length > 0 && { taskIds: knownTasks }),
    };
    for (const list of LISTS)
      if (filter[`${list}ListChanged`] === true && can[list]?.listChanged === true)
        acknowledged[`${list}ListChanged`] = true;
    this.#notify(request, "notifications/subscriptions/acknowledged", {
      notifications: acknowledged,
    });
    const followed = knownTasks.map((id) =>
      tasks.follow(request, id, (task) => this.#notify(request, "notifications/tasks", task)),
    );
    this.#streams.set(request, { acknowledged, followed });
    request.dropMessage();
    if (Object.keys(acknowledged).length === 0) this.end(request);
    return LATER;
  }

  /** Watches resources for a stream. @returns those that can be watched. */
  async #watchAll(uris: ReadonlySet<string>, request: ClientRequest): Promise<string[]> {
    const watched: string[] = [];
    const failed: string[] = [];
    for (const uri of uris) {
      if (request.isOver) break;
      try {
        await this.subscribe(uri, request, request);
        watched.push(uri);
      } catch (error) {
        failed.push(`${uri}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : "";
    if (failed.length > 0) this.#service.log.warning(`Cannot watch ${failed[0]}${more}`);
    return watched;
  }

  /** Notifies the subscribers of a resource. @param changed its URI, which may be one that RFC 3986 does not allow. */
  changed(changed: string): void {
    const uri = asUri(changed);
    for (const subscriber of this.#watches.get(uri)?.subscribers ?? []) {
      const method = "notifications/resources/updated";
      if (!(subscriber instanceof ClientRequest))
        subscriber.send?.(notificationText(method, { uri }), "notification");
      else if (this.#streams.get(subscriber)?.acknowledged.resourceSubscriptions?.includes(uri))
        this.#notify(subscriber, method, { uri });
    }
  }

  /** Notifies the streams that subscribed to the list of resources. */
  resourcesChanged(): void {
    for (const [request, { acknowledged }] of this.#streams)
      if (acknowledged.resourcesListChanged === true)
        this.#notify(request, "notifications/resources/list_changed", {});
  }

  /**
   * Ends a stream, if it is open: with a notification ("Cancellation": MUST) and a result ("Subscriptions": SHOULD; MCP
   * 2026-07-28).
   */
  end(request: ClientRequest): void {
    if (!this.#streams.has(request)) return;
    const reason = "The server ends this subscription.";
    this.#notify(request, "notifications/cancelled", { requestId: request.id, reason });
    this.#forgetStream(request);
    request.answer({ _meta: { [META.subscriptionId]: request.id } });
  }

  /** Unsubscribes a caller from all resources. */
  async leave(caller: Caller): Promise<void> {
    await this.#release([...this.#watches.keys()], caller);
  }

  #notify(request: ClientRequest, method: string, params: object): void {
    request.notify(method, { ...params, _meta: { [META.subscriptionId]: request.id } });
  }

  #forgetStream(request: ClientRequest): void {
    const stream = this.#streams.get(request);
    if (stream === undefined) return;
    this.#streams.delete(request);
    this.#load.streams.count(-1);
    for (const end of stream.followed) end();
    void this.#release(stream.acknowledged.resourceSubscriptions ?? [], request);
  }

  async #release(uris: readonly string[], subscriber: Subscriber): Promise<void> {
    await Promise.all(uris.map((uri) => this.unsubscribe(uri, subscriber)));
  }
}
