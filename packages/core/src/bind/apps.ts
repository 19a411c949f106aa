import { readFile } from "node:fs/promises";
import type { OptionTable } from "../define/options.ts";
import { resourceNotFound } from "../protocol/errors.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { ClientCapabilities, ListedTool, ReadResourceResult } from "../protocol/wire.ts";
import { Confirmations, canAskInView } from "./questions/confirmation.ts";
import type { Runtime } from "./runtime.ts";
import { packageFolder } from "./skills.ts";

/** The extension for interactive views in hosts (MCP Apps, 2026-01-26). */
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";
const VIEW_TYPE = "text/html;profile=mcp-app";
const CONFIRM_VIEW = "confirm";

export function showsApps(capabilities: ClientCapabilities | undefined): boolean {
  const settings: { readonly mimeTypes?: unknown } | undefined = capabilities?.extensions?.[APPS_EXTENSION];
  return Array.isArray(settings?.mimeTypes) && settings.mimeTypes.includes(VIEW_TYPE);
}

/**
 * MCP Apps for clients that show views: `_meta.ui` on tools, the views as resources `ui://SERVER/VIEW.html`, and the
 * confirmation in a view, whose tool only a view may call.
 */
export class Apps<Context> {
  readonly confirmations: Confirmations<Context>;
  readonly #runtime: Runtime<Context, OptionTable>;

  constructor(runtime: Runtime<Context, OptionTable>) {
    this.#runtime = runtime;
    this.confirmations = new Confirmations(runtime.definition.name, runtime.options.confirm);
  }

  get hasViews(): boolean {
    return this.#runtime.tools.some((tool) => tool.view !== undefined || canAskInView(tool));
  }

  hasViewsFor(capabilities: ClientCapabilities | undefined): boolean {
    if (!showsApps(capabilities)) return false;
    const asks = this.confirmations.asks(capabilities);
    return this.#runtime.tools.some((tool) => tool.view !== undefined || (asks && canAskInView(tool)));
  }

  /** The answer to `tools/list` for a client that shows views. */
  listed(tools: readonly ListedTool[], { client }: ClientRequest): { tools: ListedTool[] } {
    const asks = this.confirmations.asks(client.capabilities);
    const facts = new Map(this.#runtime.tools.map((tool) => [tool.name, tool]));
    let asksAny = false;
    const shown = tools.map((tool): ListedTool => {
      const fact = facts.get(tool.name);
      const mayAsk = asks && fact !== undefined && canAskInView(fact);
      if (fact?.view === undefined && !mayAsk) return tool;
      asksAny ||= mayAsk;
      const { outputSchema, ...rest } = tool;
      return {
        ...rest,
        // A result that asks has no data yet, so a client that checks the schema would reject it.
        ...(mayAsk || outputSchema === undefined ? {} : { outputSchema }),
        _meta: { ...tool._meta, ui: { resourceUri: this.#uri(fact?.view) } },
      };
    });
    return { tools: asksAny ? [...shown, this.confirmations.tool] : shown };
  }

  #uri(view = CONFIRM_VIEW): string {
    return `ui://${this.#runtime.definition.name}/${view}.html`;
  }

  /** A view. @throws ProtocolError -32602 for any other URI. */
  async read(uri: string): Promise<ReadResourceResult> {
    const { tools, views } = this.#runtime.definition;
    const names = [CONFIRM_VIEW, ...[...tools].flatMap(({ view }) => view ?? [])];
    const name = names.find((one) => this.#uri(one) === uri);
    if (name === undefined) throw resourceNotFound(uri);
    const module = name === CONFIRM_VIEW || views === undefined ? import.meta.url : views;
    const text = await readFile(new URL(`dist/views/${name}.html`, packageFolder(module)), "utf8");
    const ui = { csp: {}, prefersBorder: name !== CONFIRM_VIEW };
    return { contents: [{ uri, mimeType: VIEW_TYPE, text, _meta: { ui } }] };
  }
}
