import { ToolError } from "@refmcp/boundary/answer";
import type { Unwatch } from "../define/resource.ts";
import { internalError, ProtocolError } from "./errors.ts";
import type { Amount } from "./load.ts";
import { asUri } from "./messages.ts";
import { type ClientRequest, LATER, type Service } from "./request.ts";
import { requireTasks } from "./tasks.ts";
import { META } from "./wire.ts";

interface Watch {
  subscribers: number;
  /** Resolves when watching has started, with the function that stops it. */
  started: Promise<Unwatch | undefined>;
}

/** Counts the subscribers of each URI: the first one starts the watch, the last one stops it. */
export class Watches {
  readonly #watches = new Map<string, Watch>();
  readonly #service: Pick<Service, "watch" | "log">;
  readonly #slots: Amount;
  readonly #changed: (uri: string) => void;

  constructor(
    service: Pick<Service, "watch" | "log">,
    slots: Amount,
    changed: (uri: string) => void,
  ) {
    this.#service = service;
    this.#slots = slots;
    this.#changed = changed;
  }

  has(uri: string): boolean {
    return this.#watches.has(uri);
  }

  /** @throws what starting the watch throws; then nothing is subscribed. */
  async add(uri: string, request: ClientRequest): Promise<void> {
    for (
      let present = this.#watches.get(uri);
      present !== undefined;
      present = this.#watches.get(uri)
    ) {
      present.subscribers += 1;
      try {
        await present.started;
        return;
      } catch {
        // The request that started it failed or was cancelled, so this one tries again.
      }
    }
    if (!this.#slots.take())
      throw new ToolError(
        "too_large",
        `At most ${this.#slots.all} resources can be watched at once.`,
        { hint: "Unsubscribe from some, or subscribe to a resource that covers several." },
      );
    const started = Promise.resolve(this.#service.watch(uri, () => this.#changed(uri), request));
    const watch = { subscribers: 1, started };
    this.#watches.set(uri, watch);
    try {
      await started;
    } catch (error) {
      this.#forget(uri, watch);
      throw error;
    }
  }

  /** Like `add`, but does nothing if the URI is already watched. */
  async ensure(uri: string, request: ClientRequest): Promise<void> {
    const present = this.#watches.get(uri);
    const isWatched = await present?.started.then(
      () => true,
      () => false,
    );
    if (isWatched !== true) await this.add(uri, request);
  }

  async remove(uri: string): Promise<void> {
    const watch = this.#watches.get(uri);
    if (watch === undefined) return;
    watch.subscribers -= 1;
    if (watch.subscribers > 0) return;
    await this.#stop(uri, watch);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#watches].map(([uri, watch]) => this.#stop(uri, watch)));
  }

  #forget(uri: string, watch: Watch): void {
    if (this.#watches.get(uri) !== watch) return;
    this.#watches.delete(uri);
    this.#slots.count(-1);
  }

  async #stop(uri: string, watch: Watch): Promise<void> {
    this.#forget(uri, watch);
    try {
      const unwatch = await watch.started;
      await unwatch?.();
    } catch (error) {
      this.#service.log.warning(`Could not stop watching ${uri}: ${String(error)}`);
    }
  }
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

/** The streams of `subscriptions/listen`, for one connection or for all stateless clients of a process. */
export class Streams {
  readonly #service: Service;
  readonly #watches: Watches;
  readonly #slots: Amount;
  readonly #open = new Map<ClientRequest, Acknowledged>();
  /** The functions that end following tasks. */
  readonly #followed = new Map<ClientRequest, (() => void)[]>();

  constructor(service: Service, slots: Amount, watches: Watches) {
    this.#service = service;
    this.#slots = slots;
    this.#watches = watches;
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
    if (!this.#slots.take()) throw new ProtocolError(internalError("Subscription limit reached"));
    const can = this.#service.capabilities("modern");
    const wanted = new Set<string>(
      can.resources?.subscribe === true ? filter.resourceSubscriptions?.map(asUri) : [],
    );
    const watched: string[] = [];
    // Nothing is sent before the acknowledgement.
    this.#open.set(request, {});
    request.whenAborted(() => {
      this.#forget(request);
      void this.#release(watched.splice(0));
    });
    const failed: string[] = [];
    for (const uri of wanted) {
      if (request.isOver) break;
      try {
        await this.#watches.add(uri, request);
        watched.push(uri);
      } catch (error) {
        failed.push(`${uri}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : "";
    if (failed.length > 0) this.#service.log.warning(`Cannot watch ${failed[0]}${more}`);
    const knownTasks = this.#service.tasks.known(request, taskIds);
    if (request.isOver) {
      await this.#release(watched.splice(0));
      return LATER;
    }
    const acknowledged: Acknowledged = {
      ...(watched.length > 0 && { resourceSubscriptions: watched }),
      ...(knownTasks.length > 0 && { taskIds: knownTasks }),
    };
    for (const list of LISTS)
      if (filter[`${list}ListChanged`] === true && can[list]?.listChanged === true)
        acknowledged[`${list}ListChanged`] = true;
    this.#open.set(request, acknowledged);
    this.#send(request, "notifications/subscriptions/acknowledged", {
      notifications: acknowledged,
    });
    this.#followed.set(
      request,
      knownTasks.map((id) =>
        this.#service.tasks.follow(request, id, (task) =>
          this.#send(request, "notifications/tasks", task),
        ),
      ),
    );
    request.dropMessage();
    if (Object.keys(acknowledged).length === 0) this.end(request);
    return LATER;
  }

  changed(uri: string): void {
    for (const [request, { resourceSubscriptions }] of this.#open)
      if (resourceSubscriptions?.includes(uri) === true)
        this.#send(request, "notifications/resources/updated", { uri });
  }

  resourcesChanged(): void {
    for (const [request, { resourcesListChanged }] of this.#open)
      if (resourcesListChanged === true)
        this.#send(request, "notifications/resources/list_changed", {});
  }

  close(): void {
    for (const request of [...this.#open.keys()]) this.end(request);
  }

  #send(request: ClientRequest, method: string, params: object): void {
    request.notify(method, { ...params, _meta: { [META.subscriptionId]: request.id } });
  }

  /**
   * Ends a stream, if it is open: with a notification ("Cancellation": MUST) and a result ("Subscriptions": SHOULD; MCP
   * 2026-07-28).
   */
  end(request: ClientRequest): void {
    const acknowledged = this.#open.get(request);
    if (acknowledged === undefined) return;
    this.#forget(request);
    const reason = "The server ends this subscription.";
    this.#send(request, "notifications/cancelled", { requestId: request.id, reason });
    request.succeed({ _meta: { [META.subscriptionId]: request.id } });
    void this.#release(acknowledged.resourceSubscriptions ?? []);
  }

  #forget(request: ClientRequest): void {
    for (const end of this.#followed.get(request) ?? []) end();
    this.#followed.delete(request);
    if (this.#open.delete(request)) this.#slots.count(-1);
  }

  async #release(uris: readonly string[]): Promise<void> {
    for (const uri of uris) await this.#watches.remove(uri);
  }
}
