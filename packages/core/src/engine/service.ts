import type { Effect } from "../define/effect.ts";
import type { Unwatch } from "../define/resource.ts";
import type { Awaitable } from "../define/tool.ts";
import type { Client } from "./caller.ts";
import type { ClientRequest, Handler, ServerFacts } from "./request.ts";
import type { Tasks } from "./tasks.ts";
import type { ClientCapabilities, Era, ServerCapabilities } from "./wire.ts";

export interface Listener {
  resourceChanged(uri: string): void;
  resourcesChanged(): void;
}

/** What the engine serves: created from a definition by `bind`, and shared by all callers of a process. */
export interface Service extends ServerFacts {
  /** What it is for, in one sentence. */
  readonly description: string;
  readonly instructions: string;
  /** @param clientCapabilities the client's capabilities, if known. */
  capabilities(era: Era, clientCapabilities?: ClientCapabilities): ServerCapabilities;
  /** The methods of all revisions: tools, resources, prompts, completion. */
  readonly methods: ReadonlyMap<string, Handler>;
  /** Checks that calls can be served now. @throws the reason why not. */
  ready(signal: AbortSignal): Promise<void>;
  /** Starts watching a resource for a request; undefined if it cannot be watched. */
  watch(uri: string, onChange: () => void, request: ClientRequest): Awaitable<Unwatch | undefined>;
  /** Adds a listener; returns the function that removes it. */
  listen(listener: Listener): () => void;
  /** The OAuth scope for calling tools with this effect: `git:read`. */
  scopeFor(effect: Effect): string;
  readonly tasks: Tasks;
  /** Handles a client's notification after a handshake: `notifications/initialized`, `…/roots/list_changed`. */
  onNotification?(method: string, client: Client): void;
}
