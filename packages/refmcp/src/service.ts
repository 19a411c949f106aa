import type { Log } from "@refmcp/core/internal/log";
import type { Handler, Listener, Service } from "@refmcp/core/internal/protocol/request";
import { Tasks } from "@refmcp/core/internal/protocol/tasks";
import type { ServerCapabilities } from "@refmcp/core/internal/protocol/wire";
import { toolCalls } from "./calls.ts";
import { joined, listResources, listTools } from "./lists.ts";
import type { Peer } from "./peer.ts";
import { Router } from "./router.ts";

/**
 * Joins the servers to one: lists come from what their builds recorded, and everything else goes to the process of the
 * server that it belongs to, in the client's own revision.
 *
 * @param parts `own`: the engine's view of this program's own tools
 */
export function serviceOf(parts: {
  readonly own: Service;
  readonly findsTools: boolean;
  readonly peers: readonly Peer[];
  readonly listeners: Set<Listener>;
  readonly log: Log;
  readonly limits: { readonly taskAfterMs: number; readonly taskTimeoutMs: number };
}): Service {
  const { own, findsTools, peers, listeners, log, limits } = parts;
  const router = new Router(peers);
  const tasks = new Tasks({ afterMs: limits.taskAfterMs, limitMs: limits.taskTimeoutMs });
  const methods = new Map<string, Handler>([
    ["tools/list", (request) => listTools(own, findsTools, peers, request)],
    ["tools/call", toolCalls({ own, findsTools, router, tasks, log })],
    ["resources/list", (request) => listResources(peers, request)],
    ["resources/templates/list", (request) => joined(peers, "resourceTemplates", request)],
    [
      "resources/read",
      (request) => {
        const uri = String(request.params.uri);
        if (uri.startsWith("skill://")) return router.skill(uri, request);
        return router.resource(uri, (peer) => peer.send(request));
      },
    ],
    ["prompts/list", (request) => joined(peers, "prompts", request)],
    ["prompts/get", (request) => router.prompt(String(request.params.name)).send(request)],
    ["completion/complete", (request) => router.completed(request).send(request)],
    ["skills/list", (request) => joined(peers, "skills", request)],
    ["skills/get", (request) => router.skill(String(request.params.uri), request)],
  ]);
  return {
    ...own,
    identity: { ...own.identity, name: "refmcp" },
    instructions: findsTools
      ? `${own.instructions}\nServers: ${peers.map(({ name }) => name).join(", ")}.`
      : peers.map(({ name, instructions }) => `# ${name}\n${instructions}`).join("\n\n"),
    methods,
    capabilities: (era, declared) =>
      joinCapabilities(
        [own, ...peers.map(({ listing }) => listing)].map((one) => one.capabilities(era, declared)),
      ),
    tasks,
    ready: () => Promise.resolve(),
    watch: (uri, changed, request) =>
      router.resource(uri, async (peer) => {
        const isWatched = await peer.watch(uri, changed, request);
        return isWatched ? () => peer.unwatch(uri) : undefined;
      }),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    notified(method) {
      if (method === "notifications/roots/list_changed")
        for (const peer of peers) peer.rootsChanged();
    },
  };
}

/** What any of the servers can do. */
function joinCapabilities(all: readonly ServerCapabilities[]): ServerCapabilities {
  const extensions = Object.assign({}, ...all.map((one) => one.extensions));
  const canWatch = all.some(({ resources }) => resources?.subscribe === true);
  return {
    ...Object.assign({}, ...all),
    resources: { listChanged: true, subscribe: canWatch },
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  };
}
