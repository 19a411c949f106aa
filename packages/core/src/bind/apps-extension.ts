import type { OptionTable } from "../define/options.ts";
import type { Awaitable, ToolFacts } from "../define/tool.ts";
import { resourceNotFound } from "../protocol/errors.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { Handler, LATER } from "../protocol/service.ts";
import type { ClientCapabilities } from "../protocol/wire.ts";
import type { Apps } from "./apps.ts";
import { hasForms } from "./asking.ts";
import type { Runtime } from "./runtime.ts";
import { answerCard, hasCard } from "./tool.ts";

/** The extension for interactive views in hosts (MCP Apps, 2026-01-26). */
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";
/** The MIME type of a view. */
export const VIEW_TYPE = "text/html;profile=mcp-app";

/** Whether the client shows views. */
export function showsApps(capabilities: ClientCapabilities | undefined): boolean {
  const settings: { readonly mimeTypes?: unknown } | undefined = capabilities?.extensions?.[APPS_EXTENSION];
  return Array.isArray(settings?.mimeTypes) && settings.mimeTypes.includes(VIEW_TYPE);
}

/** Whether this client's user is asked by a card: confirmation is on, and the client shows views but no forms. */
export function showsCards(confirm: "ask" | "never", capabilities: ClientCapabilities | undefined): boolean {
  return confirm === "ask" && showsApps(capabilities) && !hasForms(capabilities);
}

/** Whether any of the tools has a view or, if `cards` is set, a confirmation card. */
export function hasApps(tools: readonly ToolFacts[], cards: boolean): boolean {
  return tools.some((tool) => tool.view !== undefined || (cards && hasCard(tool)));
}

/**
 * Adds MCP Apps to the methods for clients that show views. For other clients the methods are unchanged.
 *
 * @param call runs a tool, which may show a card.
 */
export function addApps<Context>(
  methods: Map<string, Handler>,
  runtime: Runtime<Context, OptionTable>,
  call: (request: ClientRequest, apps: Apps<Context>) => Awaitable<object>,
): void {
  let loading: Promise<Apps<Context>> | undefined;
  const load = () => {
    loading ??= import("./apps.ts").then((module) => new module.Apps(runtime));
    return loading;
  };
  const override = (
    method: string,
    handle: (apps: Apps<Context>, request: ClientRequest, plain: Handler) => Awaitable<object | typeof LATER>,
  ) => {
    const plain: Handler =
      methods.get(method) ?? (({ params }) => Promise.reject(resourceNotFound(String(params.uri))));
    methods.set(method, (request) =>
      showsApps(request.client.capabilities)
        ? load().then((apps) => handle(apps, request, plain))
        : plain(request),
    );
  };
  override("tools/list", async (apps, request, plain) =>
    apps.listed(Object(await plain(request)).tools, request),
  );
  override("tools/call", (apps, request) =>
    request.params.name === apps.confirmName ? answerCard(runtime, request, apps) : call(request, apps),
  );
  override("resources/read", (apps, request, plain) =>
    String(request.params.uri).startsWith("ui://") ? apps.read(String(request.params.uri)) : plain(request),
  );
}
