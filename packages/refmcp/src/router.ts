import { unknownName } from "@refmcp/core/internal/bind/tool";
import {
  invalidParams,
  ProtocolError,
  resourceNotFound,
} from "@refmcp/core/internal/protocol/errors";
import { asUri, show } from "@refmcp/core/internal/protocol/messages";
import type { ClientRequest } from "@refmcp/core/internal/protocol/request";
import { moreTools } from "./lists.ts";
import type { Peer } from "./peer.ts";

/** Finds the server of a name. */
export class Router {
  readonly #peers: readonly Peer[];
  readonly #tools = new Map<string, Peer>();
  readonly #prompts = new Map<string, Peer>();

  constructor(peers: readonly Peer[]) {
    this.#peers = peers;
    for (const peer of peers) {
      for (const name of peer.toolNames) this.#tools.set(name, peer);
      // The tool with which a view answers a confirmation (MCP Apps).
      this.#tools.set(`${peer.name}_confirm`, peer);
      for (const name of peer.promptNames) this.#prompts.set(name, peer);
    }
  }

  /** The server of a tool; undefined for an unknown name and for tools that an option added. */
  known(name: string): Peer | undefined {
    return this.#tools.get(name);
  }

  /** The names of all tools that can be called. */
  get toolNames(): string[] {
    return [...this.#tools.keys()];
  }

  /** The server of a tool that an option added. */
  async addedBy(name: string, request: ClientRequest): Promise<Peer | undefined> {
    for (const peer of this.#peers)
      if (peer.hasMoreTools && (await moreTools(peer, request)).some((tool) => tool.name === name))
        return peer;
    return undefined;
  }

  /** The server of a prompt. @throws ProtocolError -32602 for an unknown name. */
  prompt(name: string): Peer {
    const peer = this.#prompts.get(name);
    if (peer === undefined) throw unknownName("prompt", name, [...this.#prompts.keys()]);
    return peer;
  }

  /** The server of what `completion/complete` refers to. @throws ProtocolError -32602 */
  completed({ params }: ClientRequest): Peer {
    const { type, uri, name } = Object(params.ref);
    if (type !== "ref/resource") return this.prompt(String(name));
    const peer = this.#peers.find((one) => one.hasResource(String(uri)));
    if (peer === undefined)
      throw new ProtocolError(invalidParams(`Unknown resource template ${show(uri)}`));
    return peer;
  }

  /** Answers from the skills that the servers' builds recorded. */
  skill(uri: string, request: ClientRequest) {
    const owner = this.#peers.find(({ skillNames }) =>
      skillNames.some((name) => uri.startsWith(`skill://${name}/`)),
    );
    const handler = owner?.listing.methods.get(request.method);
    if (handler === undefined) throw resourceNotFound(uri);
    return handler(request);
  }

  /**
   * The result of the first server that has a resource; several may have a template that fits, such as
   * `schema://…`. Those that run already are asked first.
   *
   * @throws the last server's error; ProtocolError -32602 if no template fits.
   */
  async resource<Result>(
    given: string,
    ask: (peer: Peer) => Promise<Result | undefined>,
  ): Promise<Result> {
    const uri = asUri(given);
    const fitting = uri.startsWith("ui://")
      ? this.#peers.filter(({ name }) => uri.startsWith(`ui://${name}/`))
      : this.#peers.filter((peer) => peer.hasResource(uri));
    let error: unknown = resourceNotFound(uri);
    for (const peer of fitting.toSorted((a, b) => Number(b.isRunning) - Number(a.isRunning))) {
      try {
        const result = await ask(peer);
        if (result !== undefined) return result;
      } catch (thrown) {
        error = thrown;
      }
    }
    throw error;
  }
}
