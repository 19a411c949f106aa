import type { Icon } from "../define/content.ts";
import type { Unwatch } from "../define/resource.ts";
import type { Awaitable } from "../define/tool.ts";
import type { Log } from "../log.ts";
import type { Connection } from "./connection.ts";
import type { ClientRequest } from "./request.ts";
import type { Revision } from "./revisions.ts";
import type { ClientCapabilities, Implementation, ServerCapabilities } from "./wire.ts";

/** What a handler returns when it answers the request itself, later. */
export const LATER = Symbol("answered later");

/** Answers one request: its result, or a rejection with the error. */
export type Handler = (request: ClientRequest) => Awaitable<object | typeof LATER>;

/** Starts watching a resource for a request; undefined if nothing of that name can be watched. */
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

/** What the engine serves: `bind` makes one of a definition, and every connection of a process shares it. */
export interface Service {
  readonly identity: Implementation;
  /** Its pictures, for the opening of a connection. */
  readonly icons: Icon[];
  readonly instructions: string;
  readonly log: Log;
  /** @param declared what the client declared, if that is known. */
  capabilities(era: Revision["era"], declared?: ClientCapabilities): ServerCapabilities;
  /** The methods of both eras: tools, resources, prompts, completion. */
  readonly methods: ReadonlyMap<string, Handler>;
  readonly watch: StartWatching;
  /** Adds a listener; returns the function that removes it. */
  listen(listener: Listener): () => void;
  /** Looks at a client's notification of the legacy era: `notifications/initialized`, `…/roots/list_changed`. */
  notified?(method: string, connection: Connection): void;
}
