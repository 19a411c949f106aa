import { readFile } from "node:fs/promises";
import { ToolError } from "@refmcp/boundary/answer";
import { crypto } from "@refmcp/boundary/crypto";
import type { OptionTable } from "../define/options.ts";
import { resourceNotFound } from "../protocol/errors.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { CallToolResult, ListedTool, ReadResourceResult } from "../protocol/wire.ts";
import { showsCards, VIEW_TYPE } from "./apps-extension.ts";
import { packageFolder } from "./read-skills.ts";
import type { Runtime } from "./runtime.ts";
import { type ApprovedCall, hasCard } from "./tool.ts";

/** The key in a result's `_meta` for the confirmation card's data. Hosts pass `_meta` to the view, not to the model. */
const CONFIRMATION_META = "io.github.refmcp/confirmation";
/** The view of the card. */
const CARD = "confirm";

/** How long a card can be answered, in milliseconds. */
const WAITING_MS = 10 * 60_000;
const MAX_WAITING = 50;

/** A call that is waiting for the user's click. */
interface Waiting<Context> extends ApprovedCall<Context> {
  readonly principal: string | undefined;
  readonly until: number;
}

/**
 * MCP Apps for clients that show views: `_meta.ui` on tools, the views as resources `ui://SERVER/VIEW.html`, and the
 * confirmation card, whose tool only a view may call.
 *
 * The card asks a question that the host cannot ask with a form. Two things keep the model from answering it: the tool
 * is for views only (`visibility: ["app"]`, enforced by the host), and it needs a token that is only in the result's
 * `_meta`, works once, and is bound to this call with its arguments and its loss.
 */
export class Apps<Context> {
  readonly #runtime: Runtime<Context, OptionTable>;
  readonly #waiting = new Map<string, Waiting<Context>>();

  constructor(runtime: Runtime<Context, OptionTable>) {
    this.#runtime = runtime;
  }

  /** The name of the card's tool. */
  get confirmName(): string {
    return `${this.#runtime.definition.name}_confirm`;
  }

  /** Whether this client's user is asked by a card. */
  asks({ capabilities }: ClientRequest["client"]): boolean {
    return showsCards(this.#runtime.options.confirm, capabilities);
  }

  /** The answer to `tools/list` for a client that shows views. */
  listed(tools: readonly ListedTool[], { client }: ClientRequest): { tools: ListedTool[] } {
    const cards = this.asks(client);
    const facts = new Map(this.#runtime.tools.map((tool) => [tool.name, tool]));
    let hasCards = false;
    const shown = tools.map((tool): ListedTool => {
      const fact = facts.get(tool.name);
      const isCard = cards && fact !== undefined && hasCard(fact);
      if (fact?.view === undefined && !isCard) return tool;
      hasCards ||= isCard;
      const { outputSchema, ...rest } = tool;
      return {
        ...rest,
        // A result that shows the card has no data yet, so a client that checks the schema would reject it.
        ...(isCard || outputSchema === undefined ? {} : { outputSchema }),
        _meta: { ...tool._meta, ui: { resourceUri: this.#uri(fact?.view) } },
      };
    });
    return { tools: hasCards ? [...shown, this.#confirmTool()] : shown };
  }

  #confirmTool(): ListedTool {
    return {
      name: this.confirmName,
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

  #uri(view = CARD): string {
    return `ui://${this.#runtime.definition.name}/${view}.html`;
  }

  /** A view. @throws ProtocolError -32602 for any other URI. */
  async read(uri: string): Promise<ReadResourceResult> {
    const { tools, views } = this.#runtime.definition;
    const names = new Set([CARD, ...[...tools].flatMap(({ view }) => view ?? [])]);
    const name = [...names].find((one) => this.#uri(one) === uri);
    if (name === undefined) throw resourceNotFound(uri);
    const module = name === CARD || views === undefined ? import.meta.url : views;
    const text = await readFile(new URL(`dist/views/${name}.html`, packageFolder(module)), "utf8");
    return {
      contents: [
        { uri, mimeType: VIEW_TYPE, text, _meta: { ui: { csp: {}, prefersBorder: name !== CARD } } },
      ],
    };
  }

  /** The result that shows the card; the call has done nothing yet. */
  card(call: ApprovedCall<Context>, message: string, request: ClientRequest): CallToolResult {
    const now = Date.now();
    for (const [token, { until }] of this.#waiting)
      if (until < now || this.#waiting.size >= MAX_WAITING) this.#waiting.delete(token);
    const token = crypto().randomBytes(24).toString("base64url");
    const principal = request.client.principal?.key;
    this.#waiting.set(token, { ...call, principal, until: now + WAITING_MS });
    const text = `A card below asks the user to confirm: ${message}\nNothing has been done yet. Do not call again or report it as done; the user decides by clicking.`;
    return {
      content: [{ type: "text", text }],
      _meta: { [CONFIRMATION_META]: { token, message, title: call.tool.title, tool: this.confirmName } },
    };
  }

  /**
   * Takes the answer to a card.
   *
   * @returns the call that the user agreed to, once; undefined if they declined.
   * @throws ToolError `not_found` for an unknown, used or expired token, or one of another caller.
   */
  answered({ params, client }: ClientRequest): ApprovedCall<Context> | undefined {
    const { token, accept }: { token?: unknown; accept?: unknown } = Object(params.arguments);
    const waiting = this.#waiting.get(String(token));
    if (waiting === undefined || waiting.until < Date.now() || waiting.principal !== client.principal?.key)
      throw new ToolError("not_found", "This question was already answered or has expired.", {
        hint: "Request the action again to show a new card.",
      });
    this.#waiting.delete(String(token));
    return accept === true ? waiting : undefined;
  }
}
