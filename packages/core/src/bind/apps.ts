import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { shorten, ToolError } from "@refmcp/boundary/answer";
import { crypto } from "@refmcp/boundary/crypto";
import { annotationsOf } from "../define/effect.ts";
import type { OptionTable } from "../define/options.ts";
import type { Outline } from "../define/server.ts";
import type { ToolFacts, ToolOutline } from "../define/tool.ts";
import { resourceNotFound } from "../engine/errors.ts";
import type { ClientRequest } from "../engine/request.ts";
import type {
  CallToolResult,
  ClientCapabilities,
  ListedTool,
  ReadResourceResult,
} from "../engine/wire.ts";
import { type ConfirmationNeeded, hasForms } from "./questions.ts";
import type { Runtime } from "./runtime.ts";

/** The extension for interactive views in hosts (MCP Apps, 2026-01-26). */
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";
const VIEW_TYPE = "text/html;profile=mcp-app";
const CONFIRM_VIEW = "confirm";
/** The key in a result's `_meta` for the data of the view. Hosts pass `_meta` to the view, not to the model. */
const CONFIRMATION_META = "io.github.refmcp/confirmation";
const WAIT_MS = 10 * 60_000;
/** How many cards of a caller wait for a click. */
const MAX_WAITING = 50;

/** A call with its arguments, and the questions that the user confirmed in a view. */
export interface ConfirmedCall {
  readonly tool: ToolOutline;
  readonly args: Readonly<Record<string, unknown>>;
  readonly confirmedKeys: ReadonlySet<string>;
}

/** What views need to know of a running server. */
type ViewHost = Pick<Runtime<never, OptionTable>, "options" | "tools" | "toolsByName"> & {
  readonly definition: Outline;
};

/**
 * MCP Apps for clients that show views: `_meta.ui` on tools, the views as resources `ui://SERVER/VIEW.html`, and, for
 * those that show no forms, the confirmation in a view, which the host shows with the answer. Two things keep the model
 * from answering: the tool that takes the answer is for views only (`visibility: ["app"]`, enforced by the host), and it
 * needs a token that is only in the result's `_meta`, works once, and is bound to this call with its arguments and its
 * loss.
 */
export class Apps {
  /** The tool that takes the answer to a confirmation. */
  readonly tool: ListedTool;
  readonly #runtime: ViewHost;
  /** The calls that are waiting for the user's click, by token. */
  readonly #pendingCalls = new Map<string, ConfirmedCall & { caller: string | undefined }>();

  constructor(runtime: ViewHost) {
    this.#runtime = runtime;
    this.tool = {
      name: `${runtime.definition.name}_confirm`,
      title: "Answer a confirmation card",
      description: "Called by the confirmation card when the user clicks. Not for the model.",
      inputSchema: {
        type: "object",
        properties: { token: { type: "string" }, accept: { type: "boolean" } },
        required: ["token", "accept"],
        additionalProperties: false,
      },
      annotations: annotationsOf({ effect: "destroy" }),
      _meta: { ui: { visibility: ["app"] } },
    };
  }

  /**
   * The view of a tool's answers for a client: its own or, if the user can be asked in no form, the card that asks. It has
   * to be declared before the call, for every call. Undefined if the client shows no views.
   */
  viewOf(tool: ToolFacts, capabilities: ClientCapabilities | undefined): string | undefined {
    const types: unknown = Object(capabilities?.extensions?.[APPS_EXTENSION]).mimeTypes;
    if (!Array.isArray(types) || !types.includes(VIEW_TYPE)) return undefined;
    const asks = this.#runtime.options.confirm === "ask" && !hasForms(capabilities);
    return tool.view ?? (asks && tool.effect === "destroy" ? CONFIRM_VIEW : undefined);
  }

  /** Whether a call is confirmed in the card; never if the tool has its own view, which takes its place. */
  asksInView(tool: ToolFacts, capabilities: ClientCapabilities | undefined): boolean {
    return this.viewOf(tool, capabilities) === CONFIRM_VIEW;
  }

  hasViewsFor(capabilities: ClientCapabilities | undefined): boolean {
    return (
      capabilities?.extensions !== undefined &&
      this.#runtime.tools.some((tool) => this.viewOf(tool, capabilities) !== undefined)
    );
  }

  /** The answer to `tools/list` for a client that shows views. */
  withViews(tools: readonly ListedTool[], { client }: ClientRequest): ListedTool[] {
    const list = tools.map((tool): ListedTool => {
      const facts = this.#runtime.toolsByName.get(tool.name);
      const view = facts && this.viewOf(facts, client.capabilities);
      if (view === undefined) return tool;
      const { outputSchema, ...rest } = tool;
      return {
        ...rest,
        // A result that asks has no data yet, so a client that checks the schema would reject it.
        ...(view === CONFIRM_VIEW || outputSchema === undefined ? {} : { outputSchema }),
        _meta: { ...tool._meta, ui: { resourceUri: this.#uri(view) } },
      };
    });
    return list.some((tool) => Object(tool._meta?.ui).resourceUri === this.#uri(CONFIRM_VIEW))
      ? [...list, this.tool]
      : list;
  }

  #uri(view: string): string {
    return `ui://${this.#runtime.definition.name}/${view}.html`;
  }

  /** A view. @throws ProtocolError -32602 for any other URI. */
  async read(uri: string): Promise<ReadResourceResult> {
    const { tools, views } = this.#runtime.definition;
    const names = [CONFIRM_VIEW, ...tools.flatMap(({ view }) => view ?? [])];
    const name = names.find((view) => this.#uri(view) === uri);
    if (name === undefined) throw resourceNotFound(uri);
    const module = name === CONFIRM_VIEW || views === undefined ? import.meta.url : views;
    const text = await readFile(new URL(`dist/views/${name}.html`, packageFolder(module)), "utf8");
    const ui = { csp: {}, prefersBorder: name !== CONFIRM_VIEW };
    return { contents: [{ uri, mimeType: VIEW_TYPE, text, _meta: { ui } }] };
  }

  /** The result that asks; the call has done nothing yet. */
  confirmationResult(
    { tool, args }: Pick<ConfirmedCall, "args" | "tool">,
    { message, action = tool.title, confirmedKeys }: ConfirmationNeeded,
    { client: { principal } }: ClientRequest,
  ): CallToolResult {
    const caller = principal?.key;
    const own = [...this.#pendingCalls].filter(([, waiting]) => waiting.caller === caller);
    if (own.length >= MAX_WAITING) this.#pendingCalls.delete(own[0]?.[0] ?? "");
    const token = crypto().randomBytes(24).toString("base64url");
    this.#pendingCalls.set(token, { tool, args, confirmedKeys, caller });
    setTimeout(() => this.#pendingCalls.delete(token), WAIT_MS).unref();
    const text = `A card below asks the user to confirm: ${message}\nNothing has been done yet. Do not call again or report it as done; the user decides by clicking.`;
    const button = { action: shorten(action, 60), tool: this.tool.name };
    return {
      content: [{ type: "text", text }],
      _meta: { [CONFIRMATION_META]: { token, message, ...button } },
    };
  }

  /**
   * Takes the user's answer.
   *
   * @returns the call that the user agreed to, once; undefined if they declined.
   * @throws ToolError `not_found` for an unknown, used or expired token, or one of another caller.
   */
  takeAnswer({ params, client }: ClientRequest): ConfirmedCall | undefined {
    const { token, accept }: { token?: unknown; accept?: unknown } = Object(params.arguments);
    const pendingCall = this.#pendingCalls.get(String(token));
    if (pendingCall === undefined || pendingCall.caller !== client.principal?.key)
      throw new ToolError("not_found", "This question was already answered or has expired.", {
        hint: "Request the action again to show a new card.",
      });
    this.#pendingCalls.delete(String(token));
    return accept === true ? pendingCall : undefined;
  }
}

/** The folder of the package that a module belongs to, whether the module runs from source or from a bundle. */
function packageFolder(module: string): URL {
  let folder = new URL(".", module);
  while (!existsSync(new URL("package.json", folder))) {
    const parent = new URL("..", folder);
    if (parent.href === folder.href) throw new Error(`${module} is not in a package.`);
    folder = parent;
  }
  return folder;
}
