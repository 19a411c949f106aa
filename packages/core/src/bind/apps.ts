import { readFile } from "node:fs/promises";
import { shortened, ToolError } from "@refmcp/boundary/answer";
import { crypto } from "@refmcp/boundary/crypto";
import type { OptionTable } from "../define/options.ts";
import type { Tool, ToolFacts } from "../define/tool.ts";
import type { Principal } from "../engine/caller.ts";
import { resourceNotFound } from "../engine/errors.ts";
import type { ClientRequest } from "../engine/request.ts";
import type {
  CallToolResult,
  ClientCapabilities,
  ListedTool,
  ReadResourceResult,
} from "../engine/wire.ts";
import { hasForms } from "./questions/questions.ts";
import type { Runtime } from "./runtime.ts";
import { packageFolder } from "./skills.ts";

/** The extension for interactive views in hosts (MCP Apps, 2026-01-26). */
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";
const VIEW_TYPE = "text/html;profile=mcp-app";
const CONFIRM_VIEW = "confirm";

export function showsApps(capabilities: ClientCapabilities | undefined): boolean {
  const settings: { readonly mimeTypes?: unknown } | undefined =
    capabilities?.extensions?.[APPS_EXTENSION];
  return Array.isArray(settings?.mimeTypes) && settings.mimeTypes.includes(VIEW_TYPE);
}

/** The key in a result's `_meta` for the data of the view. Hosts pass `_meta` to the view, not to the model. */
const CONFIRMATION_META = "io.github.refmcp/confirmation";
const WAITING_MS = 10 * 60_000;
const MAX_WAITING = 50;

/** A call with its arguments, and the questions that the user confirmed in a view. */
export interface ConfirmedCall<Context> {
  readonly tool: Tool<Context>;
  readonly given: Readonly<Record<string, unknown>>;
  readonly confirmed: ReadonlySet<string>;
}

/** A question for the user, and what they agree to in a few words, if the question does not begin with it. */
interface Question {
  readonly message: string;
  readonly action?: string | undefined;
}

const MAX_ACTION = 60;

/**
 * What the user agrees to, for a button: "Delete 2 files (9 kB): a, b? They are lost." → "Delete 2 files". Undefined if the
 * message does not begin with a question, or if it would be cut in quotes.
 */
export function actionOf(message: string): string | undefined {
  const end = message.indexOf("?");
  const question = message.slice(0, Math.max(end, 0)).replace(/(?: \(|: |, ).*$/s, "");
  const isWhole = (question.match(/"/g)?.length ?? 0) % 2 === 0;
  return question === "" || !isWhole ? undefined : question;
}

/** A call that is waiting for the user's click. */
interface Waiting<Context> extends ConfirmedCall<Context> {
  readonly principal: Principal | undefined;
  readonly until: number;
}

/** Whether a view may ask a tool's questions: it has to be declared before the call, for every call. */
export function canAskInView({ effect, view }: ToolFacts): boolean {
  return effect === "destroy" && view === undefined;
}

/**
 * MCP Apps for clients that show views: `_meta.ui` on tools, the views as resources `ui://SERVER/VIEW.html`, and, for
 * those that show no forms, the confirmation in a view, which the host shows with the answer. Two things keep the model
 * from answering: the tool that takes the answer is for views only (`visibility: ["app"]`, enforced by the host), and it
 * needs a token that is only in the result's `_meta`, works once, and is bound to this call with its arguments and its
 * loss.
 */
export class Apps<Context> {
  /** The tool that takes the answer to a confirmation. */
  readonly tool: ListedTool;
  readonly #runtime: Runtime<Context, OptionTable>;
  readonly #waiting = new Map<string, Waiting<Context>>();

  constructor(runtime: Runtime<Context, OptionTable>) {
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
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
      _meta: { ui: { visibility: ["app"] } },
    };
  }

  /** Whether the user of this client, which shows views, is asked in one. */
  asks(capabilities: ClientCapabilities | undefined): boolean {
    return this.#runtime.options.confirm === "ask" && !hasForms(capabilities);
  }

  get hasViews(): boolean {
    return this.#runtime.tools.some((tool) => tool.view !== undefined || canAskInView(tool));
  }

  hasViewsFor(capabilities: ClientCapabilities | undefined): boolean {
    if (!showsApps(capabilities)) return false;
    const asks = this.asks(capabilities);
    return this.#runtime.tools.some(
      (tool) => tool.view !== undefined || (asks && canAskInView(tool)),
    );
  }

  /** The answer to `tools/list` for a client that shows views. */
  listed(tools: readonly ListedTool[], { client }: ClientRequest): { tools: ListedTool[] } {
    const asks = this.asks(client.capabilities);
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
    return { tools: asksAny ? [...shown, this.tool] : shown };
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

  /** The result that asks; the call has done nothing yet. */
  shown(
    call: ConfirmedCall<Context>,
    { message, action = actionOf(message) ?? call.tool.title }: Question,
    { client }: ClientRequest,
  ): CallToolResult {
    const now = Date.now();
    for (const [token, { until }] of this.#waiting) if (until < now) this.#waiting.delete(token);
    const [oldest = ""] = this.#waiting.keys();
    if (this.#waiting.size >= MAX_WAITING) this.#waiting.delete(oldest);
    const token = crypto().randomBytes(24).toString("base64url");
    this.#waiting.set(token, { ...call, principal: client.principal, until: now + WAITING_MS });
    const text = `A card below asks the user to confirm: ${message}\nNothing has been done yet. Do not call again or report it as done; the user decides by clicking.`;
    return {
      content: [{ type: "text", text }],
      _meta: {
        [CONFIRMATION_META]: {
          token,
          message,
          action: shortened(action, MAX_ACTION),
          tool: this.tool.name,
        },
      },
    };
  }

  /**
   * Takes the user's answer.
   *
   * @returns the call that the user agreed to, once; undefined if they declined.
   * @throws ToolError `not_found` for an unknown, used or expired token, or one of another caller.
   */
  answered({ params, client }: ClientRequest): ConfirmedCall<Context> | undefined {
    const { token, accept }: { token?: unknown; accept?: unknown } = Object(params.arguments);
    const waiting = this.#waiting.get(String(token));
    if (
      waiting === undefined ||
      waiting.until < Date.now() ||
      waiting.principal?.key !== client.principal?.key
    )
      throw new ToolError("not_found", "This question was already answered or has expired.", {
        hint: "Request the action again to show a new card.",
      });
    this.#waiting.delete(String(token));
    return accept === true ? waiting : undefined;
  }
}
