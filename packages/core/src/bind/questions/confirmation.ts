import { ToolError } from "@refmcp/boundary/answer";
import { crypto } from "@refmcp/boundary/crypto";
import type { Tool, ToolFacts } from "../../define/tool.ts";
import type { Client, ClientRequest } from "../../protocol/request.ts";
import type { CallToolResult, ListedTool } from "../../protocol/wire.ts";
import { hasForms } from "./questions.ts";

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

/** A call that is waiting for the user's click. */
interface Waiting<Context> extends ConfirmedCall<Context> {
  readonly principal: string | undefined;
  readonly until: number;
}

/** Whether a view may ask a tool's questions: it has to be declared before the call, for every call. */
export function canAskInView({ effect, view }: ToolFacts): boolean {
  return effect === "destroy" && view === undefined;
}

/**
 * Asks the user in a view that the host shows with the answer (MCP Apps), for clients that show views but no forms. Two
 * things keep the model from answering: the tool that takes the answer is for views only (`visibility: ["app"]`,
 * enforced by the host), and it needs a token that is only in the result's `_meta`, works once, and is bound to this
 * call with its arguments and its loss.
 */
export class Confirmations<Context> {
  /** The tool that takes the answer. */
  readonly tool: ListedTool;
  readonly #confirm: "ask" | "never";
  readonly #waiting = new Map<string, Waiting<Context>>();

  constructor(server: string, confirm: "ask" | "never") {
    this.#confirm = confirm;
    this.tool = {
      name: `${server}_confirm`,
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
  asks(capabilities: Client["capabilities"]): boolean {
    return this.#confirm === "ask" && !hasForms(capabilities);
  }

  /** The result that asks; the call has done nothing yet. */
  shown(call: ConfirmedCall<Context>, message: string, { client }: ClientRequest): CallToolResult {
    const now = Date.now();
    for (const [token, { until }] of this.#waiting)
      if (until < now || this.#waiting.size >= MAX_WAITING) this.#waiting.delete(token);
    const token = crypto().randomBytes(24).toString("base64url");
    this.#waiting.set(token, { ...call, principal: client.principal?.key, until: now + WAITING_MS });
    const text = `A card below asks the user to confirm: ${message}\nNothing has been done yet. Do not call again or report it as done; the user decides by clicking.`;
    return {
      content: [{ type: "text", text }],
      _meta: { [CONFIRMATION_META]: { token, message, title: call.tool.title, tool: this.tool.name } },
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
    if (waiting === undefined || waiting.until < Date.now() || waiting.principal !== client.principal?.key)
      throw new ToolError("not_found", "This question was already answered or has expired.", {
        hint: "Request the action again to show a new card.",
      });
    this.#waiting.delete(String(token));
    return accept === true ? waiting : undefined;
  }
}
