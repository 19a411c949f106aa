import { cursorsOf, type StateCheck } from "@refmcp/boundary/answer";
import type { ListedResource } from "@refmcp/core/internal/define/resource";
import { refuseCursor } from "@refmcp/core/internal/protocol/errors";
import { isObject } from "@refmcp/core/internal/protocol/messages";
import type { ClientRequest, Service } from "@refmcp/core/internal/protocol/request";
import type { ListedTool } from "@refmcp/core/internal/protocol/wire";
import { CALL_TOOL } from "./definition.ts";
import type { Peer } from "./peer.ts";

/** The entries that a service lists for a client without starting anything. */
async function entries<Entry>(
  { methods }: Service,
  key: string,
  request: ClientRequest,
): Promise<Entry[]> {
  const handler = methods.get(METHODS[key] ?? "");
  const result = await handler?.(request);
  const list: unknown = isObject(result) ? result[key] : undefined;
  return Array.isArray(list) ? list : [];
}

const METHODS: Readonly<Record<string, string>> = {
  tools: "tools/list",
  prompts: "prompts/list",
  resourceTemplates: "resources/templates/list",
  skills: "skills/list",
};

/** A list of all servers in one page. */
export async function joined(
  peers: readonly Peer[],
  key: "prompts" | "resourceTemplates" | "skills",
  request: ClientRequest,
): Promise<object> {
  refuseCursor(request.params.cursor);
  const lists = await Promise.all(peers.map(({ listing }) => entries(listing, key, request)));
  return { [key]: lists.flat() };
}

/** The tools of the servers that list theirs, and this program's own. */
export async function listTools(
  own: Service,
  findsTools: boolean,
  peers: readonly Peer[],
  request: ClientRequest,
): Promise<{ tools: ListedTool[] }> {
  refuseCursor(request.params.cursor);
  const lists = await Promise.all([
    entries<ListedTool>(own, "tools", request),
    ...peers
      .filter(({ isListed }) => isListed)
      .map((peer) =>
        peer.hasMoreTools
          ? moreTools(peer, request)
          : entries<ListedTool>(peer.listing, "tools", request),
      ),
  ]);
  const tools = [...(findsTools ? [CALL_TOOL] : []), ...lists.flat()];
  return { tools: tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** The tools of a server with an option that adds some: only its process knows them. */
export async function moreTools(peer: Peer, request: ClientRequest): Promise<ListedTool[]> {
  const { cursor: _, ...params } = request.params;
  const { _meta } = params;
  const result: { readonly tools?: ListedTool[] } = await peer.send(request, "tools/list", {
    ...(_meta && { _meta }),
  });
  return result.tools ?? [];
}

/**
 * The resources of all servers. Those that do not run list only what is known without starting them; a notification
 * follows when one has started.
 */
export async function listResources(
  peers: readonly Peer[],
  request: ClientRequest,
): Promise<object> {
  const { cursor, ...params } = request.params;
  const cursors = cursorsOf("resources/list", [], rests);
  const rest = cursors.decode(typeof cursor === "string" ? cursor : undefined);
  const next: Record<string, string> = {};
  const lists = await Promise.all(
    peers.map(async (peer): Promise<readonly ListedResource[]> => {
      const from = rest?.[peer.name];
      if (rest !== undefined && from === undefined) return [];
      if (!peer.isRunning) return rest === undefined ? peer.fixedResources() : [];
      const page: { resources?: ListedResource[]; nextCursor?: string } = await peer
        .send(request, "resources/list", from === undefined ? params : { ...params, cursor: from })
        // A server that fails must not hide the resources of the others.
        .catch(() => ({ resources: peer.fixedResources() }));
      if (page.nextCursor !== undefined) next[peer.name] = page.nextCursor;
      return page.resources ?? [];
    }),
  );
  return {
    resources: lists.flat(),
    ...(Object.keys(next).length === 0 ? {} : { nextCursor: cursors.encode(next) }),
  };
}

/** The servers with more pages, and the cursor of each. */
const rests: StateCheck<Readonly<Record<string, string>>> = {
  safeParse(value) {
    const entries = isObject(value) ? Object.entries(value) : [];
    const texts = entries.filter(
      (entry): entry is [string, string] => typeof entry[1] === "string",
    );
    return texts.length > 0 && texts.length === entries.length
      ? { success: true, data: Object.fromEntries(texts) }
      : { success: false };
  },
};
