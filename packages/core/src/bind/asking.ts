import { createHash } from "node:crypto";
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequest,
  type InputRequiredResult,
  type InputResponseView,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { ToolError } from "../answer/errors.ts";
import type { ClientRoot, SampleRequest, SampleResult } from "../define/call.ts";
import type { StateCodec } from "./state.ts";

/**
 * Thrown to end a run whose next step needs an answer from the client. The SDK asks in the way of the
 * connection's era (an `input_required` result, or a request of our own) and runs the handler anew.
 */
export class InputNeeded extends Error {
  override readonly name = "InputNeeded";
}

/** How the client is asked within one call. */
export interface AskingOptions {
  /** The request's context in the SDK. */
  readonly context: ServerContext;
  readonly capabilities: ClientCapabilities | undefined;
  /** What the answers belong to: an approval of one call must not serve another. */
  readonly subject: () => string;
  readonly confirm: "ask" | "never";
  readonly state: StateCodec;
}

type Answer = Exclude<InputResponseView, { kind: "missing" }>;

/**
 * Questions to the client within one call. Each question has a key made of its own content, so that a changed
 * question (another loss than the one the user agreed to) is asked again, unless the tool names it. Answers of earlier
 * rounds travel in the signed `requestState`.
 */
export class Asking {
  readonly #options: AskingOptions;
  /** What the answers belong to, and those of earlier rounds; most calls ask nothing and need neither. */
  #round: { readonly subject: string; readonly earlier: Readonly<Record<string, unknown>> } | undefined;
  /** The open questions by key: those that were asked before the first of them ended the run. */
  readonly #needed = new Map<string, InputRequest>();

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  #rounds() {
    if (this.#round === undefined) {
      const subject = digest(this.#options.subject());
      const state = this.#options.state.read(this.#options.context);
      this.#round = { subject, earlier: state?.subject === subject ? state.answers : {} };
    }
    return this.#round;
  }

  /** Whether a question is open, also where the handler swallowed `InputNeeded`. */
  get isOpen(): boolean {
    return this.#needed.size > 0;
  }

  /** The result that asks the open questions and carries what was answered before. */
  async inputRequired(): Promise<InputRequiredResult> {
    if (!this.isOpen) throw new TypeError("no question is open");
    const { subject, earlier } = this.#rounds();
    const answers = { ...earlier, ...this.#options.context.mcpReq.inputResponses };
    const requestState = await this.#options.state.mint({ subject, answers }, this.#options.context);
    return inputRequired({ inputRequests: Object.fromEntries(this.#needed), requestState });
  }

  async confirm(message: string): Promise<void> {
    if (this.#options.confirm === "never") return;
    const agreement = z.object({
      confirm: z
        .boolean()
        .meta({ title: "Yes, do this" })
        .describe("Tick to agree; nothing is done otherwise."),
    });
    const { confirm } = await this.#form(
      message,
      agreement,
      "Start the server with --confirm never to allow it without asking.",
    );
    if (!confirm) throw declined();
  }

  ask<Form extends z.ZodObject>(message: string, form: Form, key?: string): Promise<z.output<Form>> {
    const hint = "Pass what it asks for as arguments, or use a client with elicitation.";
    return this.#form(message, form, hint, key);
  }

  async #form<Form extends z.ZodObject>(
    message: string,
    form: Form,
    hint: string,
    key?: string,
  ): Promise<z.output<Form>> {
    const elicitation = this.#options.capabilities?.elicitation;
    if (elicitation === undefined || (elicitation.url !== undefined && elicitation.form === undefined)) {
      throw new ToolError("denied", `This needs the user's word, and this client cannot ask: ${message}`, {
        hint,
      });
    }
    const request = inputRequired.elicit({ message, requestedSchema: form });
    const answer = this.#answerTo("ask", request, key);
    if (answer.kind !== "elicit" || answer.action !== "accept") throw declined();
    const parsed = form.safeParse(answer.content);
    if (!parsed.success)
      throw new ToolError(
        "invalid",
        `The user's answer does not fit the question: ${z.prettifyError(parsed.error)}`,
      );
    return parsed.data;
  }

  async openUrl(message: string, url: string): Promise<void> {
    if (this.#options.capabilities?.elicitation?.url === undefined) {
      throw new ToolError(
        "denied",
        `This needs the user to visit ${url}, and this client cannot ask for it.`,
      );
    }
    const answer = this.#answerTo("url", inputRequired.elicitUrl({ message, url }));
    if (answer.kind !== "elicit" || answer.action !== "accept") throw declined();
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    if (this.#options.capabilities?.sampling === undefined) {
      const reason = "This needs the client's model, and this client does not offer it (sampling).";
      // MCP 2026-07-28, "Missing required capabilities": MUST be this error.
      if (this.#options.context.mcpReq.envelope !== undefined)
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } }, reason);
      throw new ToolError("denied", reason);
    }
    const { tools, toolChoice } = request;
    if ((tools ?? toolChoice) !== undefined && this.#options.capabilities.sampling.tools === undefined) {
      throw new ToolError(
        "denied",
        "This needs the client's model to use tools, and this client does not offer that (sampling.tools).",
      );
    }
    const answer = this.#answerTo("sample", inputRequired.createMessage(request));
    if (answer.kind !== "sampling") throw new ToolError("unavailable", "The client's model gave no message.");
    return answer.result;
  }

  /** The client's roots; undefined where it has no such capability. */
  roots(): readonly ClientRoot[] | undefined {
    if (this.#options.capabilities?.roots === undefined) return undefined;
    const answer = this.#answerTo("roots", inputRequired.listRoots());
    return answer.kind === "roots" ? answer.roots : [];
  }

  /** The answer to a question, of this round or an earlier one. @throws InputNeeded where there is none yet. */
  #answerTo(kind: string, request: InputRequest, name?: string): Answer {
    const key = name ?? `${kind}-${digest(JSON.stringify(request))}`;
    const { earlier } = this.#rounds();
    const view = inputResponse({ ...earlier, ...this.#options.context.mcpReq.inputResponses }, key);
    if (view.kind !== "missing") return view;
    this.#needed.set(key, request);
    throw new InputNeeded(`the client must answer ${key}`);
  }
}

/** The capabilities that the client declared: with this request (modern) or at `initialize` (legacy). */
export function capabilitiesOf(
  context: ServerContext,
  declaredAtInitialize: ClientCapabilities | undefined,
): ClientCapabilities | undefined {
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY];
  return isCapabilities(declared) ? declared : declaredAtInitialize;
}

/**
 * What a revision has of the capabilities that a client declared: elicitation came with 2025-06-18, its modes and
 * tools in sampling with 2025-11-25. A client may declare what its newest revision has.
 */
export function capabilitiesIn(
  version: string | undefined,
  declared: ClientCapabilities | undefined,
): ClientCapabilities | undefined {
  if (declared === undefined || version === undefined || version >= "2025-11-25") return declared;
  const { elicitation, sampling, ...others } = declared;
  return {
    ...others,
    ...(sampling === undefined ? {} : { sampling: {} }),
    ...(elicitation === undefined || version < "2025-06-18" ? {} : { elicitation: {} }),
  };
}

/** The SDK has validated the envelope by its schema before a handler runs. */
function isCapabilities(value: unknown): value is ClientCapabilities {
  return typeof value === "object" && value !== null;
}

function declined(): ToolError {
  return new ToolError("denied", "The user declined. Nothing was changed.", {
    hint: "Do not try it another way; ask the user what they want instead.",
  });
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}
