import { DirectoryAllowlist } from "@refmcp/boundary/directories";
import { listedTools } from "@refmcp/core/internal/bind/listing";
import { compileTemplate, type UriMatcher } from "@refmcp/core/internal/bind/resource";
import { Runtime } from "@refmcp/core/internal/bind/runtime";
import { bind } from "@refmcp/core/internal/bind/server";
import type { OptionTable } from "@refmcp/core/internal/define/options";
import type { ListedResource } from "@refmcp/core/internal/define/resource";
import type { Log } from "@refmcp/core/internal/log";
import type { ClientRequest, Service } from "@refmcp/core/internal/protocol/request";
import type { ListedTool, Params } from "@refmcp/core/internal/protocol/wire";
import { Link, type LinkEvents } from "./child/link.ts";
import type { ServerSettings } from "./settings.ts";

interface Watched {
  readonly changed: () => void;
  readonly request: ClientRequest;
  /** Those of the request, which drops them when it has become a stream. */
  readonly params: Params;
}

/** One of the servers: lists what it offers without starting it, and starts its process at the first call. */
export class Peer {
  readonly name: string;
  /** The engine's view of the server, for everything that needs no process: lists and skills. */
  readonly listing: Service;
  readonly #settings: ServerSettings;
  readonly #offered: Runtime<never, OptionTable>;
  readonly #events: Omit<LinkEvents, "ended">;
  readonly #log: Log;
  readonly #templates: readonly UriMatcher[];
  readonly #watched = new Map<string, Watched>();
  #tools: Promise<readonly ListedTool[]> | undefined;
  #link: Link | undefined;
  /** Links whose processes are still ending. */
  readonly #links = new Set<Link>();

  constructor(settings: ServerSettings, log: Log, events: Omit<LinkEvents, "ended">) {
    const { server, options } = settings;
    const allowed = new DirectoryAllowlist({ configured: [], mode: "off" });
    this.name = server.name;
    this.#offered = new Runtime(server.definition, { options, allowed, log });
    this.listing = bind(this.#offered);
    this.#settings = settings;
    this.#events = events;
    this.#log = log;
    this.#templates = this.#resources.flatMap(({ uriTemplate }) =>
      uriTemplate === undefined ? [] : [compileTemplate(uriTemplate)],
    );
  }

  get #resources() {
    return this.#settings.server.definition.resources ?? [];
  }

  /** For the model: how its tools work together. */
  get instructions(): string {
    return this.listing.instructions;
  }

  /** Whether its tools are listed; otherwise only find_tools finds them. */
  get isListed(): boolean {
    return this.#settings.isListed;
  }

  get isRunning(): boolean {
    return this.#link !== undefined;
  }

  /** The id of its process, if it runs. */
  get pid(): number | undefined {
    return this.#link?.pid;
  }

  /** All tools that can be called, with their schemas. */
  tools(): Promise<readonly ListedTool[]> {
    this.#tools ??= listedTools(this.#offered.tools);
    return this.#tools;
  }

  /** The names of all tools that can be called, with older ones. */
  get toolNames(): readonly string[] {
    return this.#offered.tools.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  }

  /** A tool by any of its names. */
  facts(name: string) {
    return this.#offered.tools.find((tool) => tool.name === name || tool.aliases?.includes(name));
  }

  /** Whether an option adds tools that only its process knows. */
  get hasMoreTools(): boolean {
    const { option } = this.#settings.server.definition.moreTools ?? {};
    return option !== undefined && this.#settings.options[option] !== undefined;
  }

  /** The names of its prompts. */
  get promptNames(): readonly string[] {
    return (this.#settings.server.definition.prompts ?? []).map(({ name }) => name);
  }

  /** The names of its skills, which need no process. */
  get skillNames(): readonly string[] {
    const { skills = [] } = this.#settings.server.definition;
    return typeof skills === "string" ? [] : skills.map(({ name }) => name);
  }

  /** Whether a URI or a template is one of its resources. */
  hasResource(uri: string): boolean {
    return (
      this.#resources.some((resource) => resource.uri === uri || resource.uriTemplate === uri) ||
      this.#templates.some((template) => template.match(uri) !== undefined)
    );
  }

  /** The resources that are listed before its process runs: those with a fixed URI. */
  fixedResources(): ListedResource[] {
    return this.#resources.flatMap(({ uri, name, title, description, mimeType, annotations }) =>
      uri === undefined ? [] : [{ uri, name, title, description, mimeType, annotations }],
    );
  }

  /** Sends a request to its process, which is started if it does not run. */
  send(request: ClientRequest, method = request.method, params = request.params): Promise<object> {
    return this.#linked(request).send(request, method, params);
  }

  /** Watches a resource, across restarts of its process. @returns whether it can be watched. */
  async watch(uri: string, changed: () => void, request: ClientRequest): Promise<boolean> {
    const { params } = request;
    const isWatched = await this.#linked(request).watch(uri, request, params);
    if (isWatched) this.#watched.set(uri, { changed, request, params });
    return isWatched;
  }

  unwatch(uri: string): void {
    if (this.#watched.delete(uri)) this.#link?.unwatch(uri);
  }

  rootsChanged(): void {
    this.#link?.rootsChanged();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.stop()));
  }

  #linked(request: ClientRequest): Link {
    this.#link ??= this.#start(request);
    return this.#link;
  }

  #start(request: ClientRequest): Link {
    const link = new Link(this.name, this.#settings.start, request, {
      changed: (uri) => {
        this.#watched.get(uri)?.changed();
        this.#events.changed(uri);
      },
      resourcesChanged: () => this.#events.resourcesChanged(),
      ended: (ended) => {
        this.#links.delete(ended);
        if (this.#link === ended) this.#link = undefined;
      },
    });
    this.#links.add(link);
    for (const [uri, watched] of this.#watched)
      link.watch(uri, watched.request, watched.params).then(
        // What changed while nothing watched is unknown.
        () => watched.changed(),
        (error: unknown) => this.#log.warning(`Could not watch ${uri} again: ${String(error)}`),
      );
    // From now on its process lists what it has at the moment.
    if (this.#resources.some(({ lists }) => lists))
      setImmediate(() => this.#events.resourcesChanged());
    return link;
  }
}
