import type { Icon } from "../define/content.ts";
import type { Unwatch } from "../define/resource.ts";
import type { Awaitable } from "../define/tool.ts";
import type { Log } from "../log.ts";
import type { Connection } from "./connection.ts";
import type { ClientRequest } from "./request.ts";
import type { Revision } from "./revisions.ts";
import type { ClientCapabilities, Implementation, ServerCapabilities } from "./wire.ts";

/** Returned by a handler that answers the request itself, later. */
export const LATER = Symbol("answered later");

/** Handles one request: returns its result, or rejects with the error. */
export type Handler = (request: ClientRequest) => Awaitable<object | typeof LATER>;

/** Starts watching a resource for a request; undefined if it cannot be watched. */
export type StartWatching = (
  uri: string,
  changed: () => void,
  request: ClientRequest,
) => Awaitable<Unwatch | undefined>;

/** Is notified of changes. */
export interface Listener {
  changed(uri: string): void;
  resourcesChanged(): void;
}

/** What the engine serves: created from a definition by `bind`, and shared by all connections of a process. */
export interface Service {
  readonly identity: Implementation;
  /** Its icons, which are sent when a connection is opened. */
  readonly icons: Icon[];
  readonly instructions: string;
  readonly log: Log;
  /** @param declared the client's capabilities, if known. */
  capabilities(era: Revision["era"], declared?: ClientCapabilities): ServerCapabilities;
  /** The methods of both eras: tools, resources, prompts, completion. */
  readonly methods: ReadonlyMap<string, Handler>;
  readonly watch: StartWatching;
  /** Adds a listener; returns the function that removes it. */
  listen(listener: Listener): () => void;
  /** Handles a client's notification in the legacy era: `notifications/initialized`, `…/roots/list_changed`. */
  notified?(method: string, connection: Connection): void;
}
