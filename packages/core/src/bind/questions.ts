import type { ClientRoot } from "@refmcp/boundary";
import { clip, reasonOf, ToolError } from "@refmcp/boundary/answer";
import { crypto } from "@refmcp/boundary/crypto";
import type * as z from "zod";
import type { SampleRequest, SampleResult } from "../define/content.ts";
import type { Outline } from "../define/server.ts";
import { ProtocolError } from "../engine/errors.ts";
import { isObject } from "../engine/message.ts";
import type { ClientRequest } from "../engine/request.ts";
import type { Revision } from "../engine/revision.ts";
import { type ClientCapabilities, CODES, type InputRequest } from "../engine/wire.ts";
import { ANSWER_MS, readState, signState } from "./signed-state.ts";

/** The result of a request whose questions the client has to answer first (MCP 2026-07-28, `InputRequiredResult`). */
export class InputRequired {
  readonly resultType = "input_required";
  readonly inputRequests: Readonly<Record<string, InputRequest>>;
  readonly requestState: string;

  constructor(inputRequests: Readonly<Record<string, InputRequest>>, requestState: string) {
    this.inputRequests = inputRequests;
    this.requestState = requestState;
  }
}

/** Thrown if the user is asked by a view that the host shows with the answer (MCP Apps). */
export class ConfirmationNeeded extends Error {
  /** All questions that count as confirmed once the user confirms this one. */
  readonly confirmedKeys: ReadonlySet<string>;
  /** What the user agrees to, in a few words. */
  readonly action: string | undefined;

  constructor(message: string, action: string | undefined, confirmedKeys: ReadonlySet<string>) {
    super(message);
    this.action = action;
    this.confirmedKeys = confirmedKeys;
  }
}

/** The methods that may end with `input_required`. */
const RETRIED: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);
/** Maximum length of a question, which may repeat arguments. */
const MAX_QUESTION_CHARS = 10_000;
/** Maximum length of the answers in a `requestState`, as JSON. */
const MAX_STATE_CHARS = 65_536;
/** How often a legacy request runs again after answers. */
const MAX_ROUNDS = 8;

const AGREEMENT = {
  type: "object",
  properties: {
    confirm: {
      type: "boolean",
      title: "Yes, do this",
      description: "Tick to confirm; otherwise nothing is done.",
    },
  },
  required: ["confirm"],
};

type Answers = Readonly<Record<string, unknown>>;

interface ServerFacts {
  readonly options: { readonly confirm: "ask" | "never" };
  readonly stateKey: Uint8Array;
  readonly definition: Pick<Outline, "name">;
}

/**
 * Questions to the client within one call. A question's key is derived from its content unless the tool gives one, so a
 * changed question (a different loss than the user confirmed) is asked again. In the modern era, answers of earlier
 * rounds travel in the signed `requestState`.
 */
export class Questions {
  readonly #request: ClientRequest;
  readonly #subject: () => string;
  readonly #server: ServerFacts;
  readonly #confirmed: ReadonlySet<string> | undefined;
  #answers: Answers | undefined;
  /** The answers that this run used; others are not kept. */
  readonly #used = new Map<string, unknown>();
  #rounds = 0;
  /** The open questions by key: those asked before the first of them ended the run. */
  #openQuestions: Map<string, InputRequest> | undefined;

  /**
   * @param subject the call that the answers belong to: a confirmation of one call is not valid for another.
   * @param confirmed the questions that the user confirmed in a view; undefined if the host is not asked that way.
   * @throws ProtocolError -32602 for a `requestState` that this server did not issue.
   */
  constructor(
    request: ClientRequest,
    subject: () => string,
    server: ServerFacts,
    confirmed: ReadonlySet<string> | undefined,
  ) {
    this.#request = request;
    this.#subject = subject;
    this.#server = server;
    this.#confirmed = confirmed;
    if (request.params.requestState !== undefined) this.#collectAnswers();
  }

  /** The answers so far: those of earlier rounds, if they belong to this call, and those of this request. */
  #collectAnswers(): Answers {
    if (this.#answers !== undefined) return this.#answers;
    const { requestState, inputResponses } = this.#request.params;
    const isState = typeof requestState === "string" && this.#request.revision.era === "modern";
    const state = isState ? readState(requestState, this.#server.stateKey, this.#owner) : undefined;
    const earlierAnswers = state?.subject === digest(this.#subject()) ? state.answers : undefined;
    this.#answers = {
      ...(isObject(earlierAnswers) ? earlierAnswers : {}),
      ...(isObject(inputResponses) ? inputResponses : {}),
    };
    return this.#answers;
  }

  /** Whether a question is open, even if the handler swallowed the error. */
  get isOpen(): boolean {
    return this.#openQuestions !== undefined;
  }

  /** The result that asks the open questions and carries what was already answered. */
  inputRequired(): InputRequired {
    const state = { subject: digest(this.#subject()), answers: Object.fromEntries(this.#used) };
    if (JSON.stringify(state).length > MAX_STATE_CHARS)
      throw new ToolError("too_large", "The user's answers are too long to keep.");
    const requestState = signState(state, this.#server.stateKey, this.#owner);
    return new InputRequired(Object.fromEntries(this.#openQuestions ?? []), requestState);
  }

  /** Sends the open questions as requests (legacy era), all at once. What the client does not answer, fails. */
  async askAtOnce(): Promise<void> {
    const { client, revision } = this.#request;
    this.#rounds += 1;
    if (this.#rounds > MAX_ROUNDS)
      throw new ToolError(
        "unavailable",
        `The client's answers were still invalid after ${MAX_ROUNDS} rounds of questions.`,
      );
    const openQuestions = [...(this.#openQuestions ?? [])];
    this.#openQuestions = undefined;
    const limit = { timeoutMs: ANSWER_MS, request: this.#request };
    const answers = await Promise.all(
      openQuestions.map(async ([key, question]) => {
        const params = "params" in question ? asLegacy(question.params, revision) : undefined;
        const answer = client.ask?.(question.method, params, limit).catch(unansweredError);
        return [key, await answer] as const;
      }),
    );
    this.#answers = { ...this.#collectAnswers(), ...Object.fromEntries(answers) };
    this.#request.task?.onInput();
  }

  /** Whether a request of this method can ask at all. */
  get isPossible(): boolean {
    return this.#request.client.ask !== undefined || RETRIED.has(this.#request.method);
  }

  /** What the client can be asked within this request, by its revision. */
  get #capabilities(): ClientCapabilities | undefined {
    const { client, revision } = this.#request;
    if (!this.isPossible || client.capabilities === undefined) return undefined;
    const { elicitation, ...otherCapabilities } = client.capabilities;
    if (revision.elicitation === "modes") return client.capabilities;
    const asksForms = revision.elicitation === "forms" && hasForms(client.capabilities);
    return asksForms ? { ...otherCapabilities, elicitation: {} } : otherCapabilities;
  }

  async confirm(message: string, action?: string): Promise<void> {
    const confirmed = this.#confirmed;
    if (this.#server.options.confirm === "never") return;
    if (confirmed !== undefined) {
      const key = digest(message);
      if (confirmed.has(key)) return;
      throw new ConfirmationNeeded(message, action, new Set([...confirmed, key]));
    }
    const hint = "Start the server with --confirm never to allow it without asking.";
    const answer = this.#form("confirmation", message, AGREEMENT, hint);
    if (!isObject(answer) || answer.confirm !== true) throw declinedError();
  }

  /** See `Call.ask`. */
  async ask(message: string, formOrUrl: z.ZodObject | URL, key?: string): Promise<unknown> {
    if (formOrUrl instanceof URL) return this.#visit(message, formOrUrl.href);
    const hint =
      "Pass the requested values as arguments, or use a client that supports elicitation.";
    // Elicitation supports only flat objects of primitive values.
    const standard = formOrUrl["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    const { type, properties, required = [] } = standard;
    const answer = this.#form("answer", message, { type, properties, required }, hint, key);
    const { success, data, error } = formOrUrl.safeParse(answer);
    if (success) return data;
    const problems = error.issues.map(({ path, message: why }) => `${path.join(".")}: ${why}`);
    throw new ToolError("invalid", `The user's answer is invalid: ${problems.join("; ")}`);
  }

  #form(what: string, text: string, requestedSchema: object, hint: string, key?: string): unknown {
    if (!hasForms(this.#capabilities)) {
      const refusal = `This needs the user's ${what}, but this client cannot ask the user`;
      throw new ToolError("denied", `${refusal}: ${text}`, { hint, code: "cannot_ask" });
    }
    const params = { mode: "form", message: clip(text, MAX_QUESTION_CHARS), requestedSchema };
    // The key is that of the whole message: an answer is valid for nothing else.
    return this.#elicit(key ?? `ask-${digest(JSON.stringify([text, requestedSchema]))}`, params);
  }

  #visit(message: string, url: string): void {
    if (this.#capabilities?.elicitation?.url === undefined) {
      const refusal = "but this client does not support URL questions";
      throw new ToolError("denied", `The user needs to visit ${url}, ${refusal}.`);
    }
    const params = { mode: "url", message, url };
    this.#elicit(`url-${digest(JSON.stringify(params))}`, params);
  }

  /** What the user entered. @throws ToolError `denied` if they declined. */
  #elicit(key: string, params: Readonly<Record<string, unknown>>): unknown {
    const question = { method: "elicitation/create", params } as const;
    const { action, content } = this.#answer(key, question, isElicitation);
    if (action === "accept") return content;
    throw declinedError();
  }

  /** Whether the client offers a model. */
  get canSample(): boolean {
    return this.#capabilities?.sampling !== undefined;
  }

  async sample(params: SampleRequest): Promise<SampleResult> {
    if (this.canSample) {
      const name = `sample-${digest(JSON.stringify(params))}`;
      return this.#answer(name, { method: "sampling/createMessage", params }, isSample);
    }
    const message = "This needs sampling, which this client does not support.";
    if (this.#request.revision.era !== "modern") throw new ToolError("denied", message);
    // MCP 2026-07-28, "Missing required capabilities": MUST be this error.
    const data = { requiredCapabilities: { sampling: {} } };
    throw new ProtocolError({ code: CODES.missingClientCapability, message, data });
  }

  /** The client's roots; undefined if it has no such capability. */
  roots(): readonly ClientRoot[] | undefined {
    if (this.#capabilities?.roots === undefined) return undefined;
    return this.#answer("roots", { method: "roots/list" }, isRootList).roots;
  }

  /**
   * The answer to a question, from this round or an earlier one.
   *
   * @throws an error that ends the run if there is no valid answer yet; the handler runs again with the answer. ToolError
   *   `unavailable` if the client did not answer.
   */
  #answer<Answer>(
    key: string,
    request: InputRequest,
    fits: (answer: unknown) => answer is Answer,
  ): Answer {
    const answers = this.#collectAnswers();
    const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
    if (answer instanceof ToolError) throw answer;
    if (fits(answer)) {
      this.#used.set(key, answer);
      return answer;
    }
    this.#openQuestions ??= new Map();
    this.#openQuestions.set(key, request);
    throw new Error(`the client must answer ${key}`);
  }

  /** What signed state belongs to. */
  get #owner(): string {
    const { method, client } = this.#request;
    return JSON.stringify([this.#server.definition.name, method, client.principal?.key]);
  }
}

/**
 * The parameters of a question in a revision with a handshake: no mode before 2025-11-25, and an id for URLs from then
 * on.
 */
function asLegacy(params: object, revision: Revision): object {
  if (!("mode" in params)) return params;
  const { mode, ...rest } = params;
  if (revision.elicitation !== "modes") return rest;
  return mode === "url" ? { ...params, elicitationId: crypto().randomUUID() } : params;
}

/** Whether a client supports forms: yes if it declares no mode, no if it declares only URLs. */
export function hasForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return (
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  );
}

function isElicitation(answer: unknown): answer is { action: string; content?: unknown } {
  const actions: readonly unknown[] = ["accept", "decline", "cancel"];
  return isObject(answer) && actions.includes(answer.action);
}

function isSample(answer: unknown): answer is SampleResult {
  return isObject(answer) && typeof answer.model === "string" && typeof answer.content === "object";
}

export function isRootList(answer: unknown): answer is { roots: ClientRoot[] } {
  return (
    isObject(answer) &&
    Array.isArray(answer.roots) &&
    answer.roots.every((root) => isObject(root) && typeof root.uri === "string")
  );
}

function unansweredError(error: unknown): ToolError {
  return new ToolError("unavailable", `The client did not answer: ${reasonOf(error)}`);
}

function declinedError(): ToolError {
  return new ToolError("denied", "The user declined. Nothing was changed.", {
    code: "declined",
    hint: "Do not try another way; ask the user what they want instead.",
  });
}

function digest(text: string): string {
  return crypto().createHash("sha256").update(text).digest("base64url").slice(0, 16);
}
