import { readFile } from "node:fs/promises";
import { ToolError } from "../answer/errors.ts";
import { crypto } from "../crypto.ts";
import type { OptionTable } from "../define/options.ts";
import { resourceNotFound } from "../protocol/errors.ts";
import type { ClientRequest } from "../protocol/request.ts";
import type { CallToolResult, ListedTool, ReadResourceResult } from "../protocol/wire.ts";
import { showsCards, VIEW_TYPE } from "./apps-extension.ts";
import { packageFolder } from "./read-skills.ts";
import type { Runtime } from "./runtime.ts";
import { type ApprovedCall, hasCard } from "./tool.ts";

/** Where a result's `_meta` has what the confirmation card needs. Hosts give `_meta` to the view and not to the model. */
const CONFIRMATION_META = "io.github.refmcp/confirmation";
/** The view of the card. */
const CARD = "confirm";

/** A card is answered within minutes; later it expires. */
const WAITING_MS = 10 * 60_000;
const MAX_WAITING = 50;

/** A call that waits for the user's click. */
interface Waiting<Context> extends ApprovedCall<Context> {
  readonly principal: string | undefined;
  readonly until: number;
}

/**
 * What MCP Apps add for a client that shows views: `_meta.ui` on tools, the views as resources `ui://SERVER/VIEW.html`, and the
 * confirmation card, whose one tool only a view may call.
 *
 * The card answers a question that the host cannot ask by a form. Two things keep the model from answering it: the tool is for
 * views only (`visibility: ["app"]`, which the host enforces), and it needs a token, which is used once, belongs to this very
 * call with these arguments and this loss, and is only in the result's `_meta`.
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

  /** Whether a card asks the user of this client. */
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
        // A result that shows the card has no data yet, which a client that checks the schema would refuse.
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

  /** The result that shows the card instead of doing what needs the user's confirmation. */
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
   * @throws ToolError `not_found` for a token that is not waiting, or is another caller's.
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
