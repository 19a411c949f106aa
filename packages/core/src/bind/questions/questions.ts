import type { ClientRoot } from "@refmcp/boundary";
import { clip, ToolError } from "@refmcp/boundary/answer";
import { crypto } from "@refmcp/boundary/crypto";
import type * as z from "zod";
import type { SampleRequest, SampleResult } from "../../define/content.ts";
import { invalidParams, ProtocolError } from "../../engine/errors.ts";
import { isObject } from "../../engine/message.ts";
import type { ClientRequest } from "../../engine/request.ts";
import type { Revision } from "../../engine/revision.ts";
import { type ClientCapabilities, CODES, type InputRequest } from "../../engine/wire.ts";

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
  readonly confirmed: ReadonlySet<string>;
  /** What the user agrees to, in a few words; undefined if the message begins with it. */
  readonly action: string | undefined;

  constructor(message: string, action: string | undefined, confirmed: ReadonlySet<string>) {
    super(message);
    this.action = action;
    this.confirmed = confirmed;
  }
}

/** The methods that may end with `input_required`. */
const RETRIED: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);
/** How long a person may take to answer, in milliseconds. */
const ANSWER_MS = 10 * 60_000;
/** Maximum length of a question, which may repeat arguments. */
const MAX_QUESTION_CHARS = 10_000;
/** Maximum length of the answers in a `requestState`, as JSON. */
const MAX_STATE_CHARS = 65_536;
/** How often a legacy request runs again after answers. */
const MAX_ROUNDS = 8;
/** How long signed state is accepted, in milliseconds. */
const STATE_MS = 10 * 60_000;

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

const REFUSED = {
  expired: "has expired.",
  unknown:
    "was changed, belongs to another request or caller, or was issued by another process: copies of a server accept each other's with the same --http-state-key-env.",
};

type Answers = Readonly<Record<string, unknown>>;

interface QuestionOptions {
  readonly confirm: "ask" | "never";
  readonly stateKey: Uint8Array;
  readonly server: string;
  /** The questions that the user confirmed in a view; undefined if the host is not asked that way. */
  readonly confirmed?: ReadonlySet<string> | undefined;
}

/**
 * Questions to the client within one call. A question's key is derived from its content unless the tool gives one, so a
 * changed question (a different loss than the user confirmed) is asked again. In the modern era, answers of earlier
 * rounds travel in the signed `requestState`.
 */
export class Questions {
  readonly #request: ClientRequest;
  readonly #subject: () => string;
  readonly #options: QuestionOptions;
  #answers: Answers | undefined;
  /** The answers that this run used; others are not kept. */
  readonly #used = new Map<string, unknown>();
  #rounds = 0;
  /** The open questions by key: those asked before the first of them ended the run. */
  #needed: Map<string, InputRequest> | undefined;

  /**
   * @param subject the call that the answers belong to: a confirmation of one call is not valid for another.
   * @throws ProtocolError -32602 for a `requestState` that this server did not issue.
   */
  constructor(request: ClientRequest, subject: () => string, options: QuestionOptions) {
    this.#request = request;
    this.#subject = subject;
    this.#options = options;
    if (request.params.requestState !== undefined) this.#given();
  }

  /** The answers so far: those of earlier rounds, if they belong to this call, and those of this request. */
  #given(): Answers {
    if (this.#answers !== undefined) return this.#answers;
    const { requestState, inputResponses } = this.#request.params;
    let earlier: unknown;
    if (typeof requestState === "string" && this.#request.revision.era === "modern") {
      const state = verified(requestState, this.#owner, this.#options.stateKey);
      if (!isObject(state)) {
        const text = `The requestState ${REFUSED[state ?? "unknown"]} Send the request again without it.`;
        throw new ProtocolError(invalidParams(text, { reason: "invalid_request_state" }));
      }
      if (state.subject === this.#digest) earlier = state.answers;
    }
    this.#answers = {
      ...(isObject(earlier) ? earlier : {}),
      ...(isObject(inputResponses) ? inputResponses : {}),
    };
    return this.#answers;
  }

  get #owner(): string {
    const { method, client } = this.#request;
    return JSON.stringify([this.#options.server, method, client.principal?.key]);
  }

  get #digest(): string {
    return digest(this.#subject());
  }

  /** Whether a question is open, even if the handler swallowed the error. */
  get isOpen(): boolean {
    return this.#needed !== undefined;
  }

  /** The result that asks the open questions and carries what was already answered. */
  inputRequired(): InputRequired {
    const state = { subject: this.#digest, answers: Object.fromEntries(this.#used) };
    if (JSON.stringify(state).length > MAX_STATE_CHARS)
      throw new ToolError(
        "too_large",
        "The user's answers are too long to be kept for the next question.",
      );
    return new InputRequired(
      Object.fromEntries(this.#needed ?? []),
      signed(state, this.#owner, this.#options.stateKey),
    );
  }

  /**
   * Sends the open questions as requests (legacy era), all at once.
   *
   * @throws ToolError if the client does not answer.
   */
  async askAtOnce(): Promise<void> {
    const { client, revision } = this.#request;
    this.#rounds += 1;
    if (this.#rounds > MAX_ROUNDS)
      throw new ToolError(
        "unavailable",
        `The client's answers were still invalid after ${MAX_ROUNDS} rounds of questions.`,
      );
    const open = [...(this.#needed ?? [])];
    this.#needed = undefined;
    const limit = { timeoutMs: ANSWER_MS, request: this.#request };
    try {
      const answers = await Promise.all(
        open.map(async ([key, question]) => {
          const params = "params" in question ? asLegacy(question.params, revision) : undefined;
          const answer = client.ask?.(question.method, params, limit);
          const isSampling = question.method === "sampling/createMessage";
          return [key, await (isSampling ? answer?.catch(unanswered) : answer)] as const;
        }),
      );
      this.#answers = { ...this.#given(), ...Object.fromEntries(answers) };
      this.#request.task?.inputReceived();
    } catch (error) {
      throw unanswered(error);
    }
  }

  /** Whether a request of this method can ask at all. */
  get isPossible(): boolean {
    return this.#request.client.ask !== undefined || RETRIED.has(this.#request.method);
  }

  /** What the client can be asked within this request, by its revision. */
  get #capabilities(): ClientCapabilities | undefined {
    const { client, revision } = this.#request;
    return this.isPossible ? capabilitiesIn(revision, client.capabilities) : undefined;
  }

  async confirm(message: string, action?: string): Promise<void> {
    const { confirm, confirmed } = this.#options;
    if (confirm === "never") return;
    if (confirmed !== undefined) {
      const key = digest(message);
      if (confirmed.has(key)) return;
      throw new ConfirmationNeeded(message, action, new Set([...confirmed, key]));
    }
    const hint = "Start the server with --confirm never to allow it without asking.";
    const answer = this.#elicit(message, AGREEMENT, hint);
    if (!isObject(answer) || answer.confirm !== true) throw declined();
  }

  async form<Form extends z.ZodObject>(
    message: string,
    form: Form,
    key?: string,
  ): Promise<z.output<Form>> {
    const hint =
      "Pass the requested values as arguments, or use a client that supports elicitation.";
    // Elicitation supports only flat objects of primitive values.
    const standard = form["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    const { type, properties, required = [] } = standard;
    const parsed = form.safeParse(this.#elicit(message, { type, properties, required }, hint, key));
    if (parsed.success) return parsed.data;
    const problems = parsed.error.issues.map(
      ({ path, message: why }) => `${path.join(".")}: ${why}`,
    );
    throw new ToolError("invalid", `The user's answer is invalid: ${problems.join("; ")}`);
  }

  #elicit(message: string, requestedSchema: object, hint: string, key?: string): unknown {
    if (!hasForms(this.#capabilities)) {
      throw new ToolError(
        "denied",
        `This needs the user's confirmation, but this client cannot ask the user: ${message}`,
        { hint, code: "cannot_ask" },
      );
    }
    const params = { mode: "form", message: clip(message, MAX_QUESTION_CHARS), requestedSchema };
    // The key is that of the whole message: an answer is valid for nothing else.
    const name = key ?? `ask-${digest(JSON.stringify([message, requestedSchema]))}`;
    const answer = this.#ask("ask", { method: "elicitation/create", params }, isElicitation, name);
    if (answer.action !== "accept") throw declined();
    return answer.content;
  }

  async url(message: string, url: string): Promise<void> {
    if (this.#capabilities?.elicitation?.url === undefined) {
      throw new ToolError(
        "denied",
        `The user needs to visit ${url}, but this client does not support URL questions.`,
      );
    }
    const params = { mode: "url", message, url };
    const answer = this.#ask("url", { method: "elicitation/create", params }, isElicitation);
    if (answer.action !== "accept") throw declined();
  }

  /** Whether the client offers a model. */
  get canSample(): boolean {
    return this.#capabilities?.sampling !== undefined;
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    const capabilities = this.#capabilities;
    if (capabilities?.sampling === undefined) {
      const message = "This needs sampling, which this client does not support.";
      // MCP 2026-07-28, "Missing required capabilities": MUST be this error.
      if (this.#request.revision.era === "modern")
        throw new ProtocolError({
          code: CODES.missingClientCapability,
          message,
          data: { requiredCapabilities: { sampling: {} } },
        });
      throw new ToolError("denied", message);
    }
    const { tools, toolChoice } = request;
    if ((tools ?? toolChoice) !== undefined && capabilities.sampling.tools === undefined) {
      throw new ToolError(
        "denied",
        "This needs sampling with tools, which this client does not support (sampling.tools).",
      );
    }
    const question = { method: "sampling/createMessage", params: request } as const;
    const answer = this.#ask("sample", question, isSampleOrFailure);
    if (answer instanceof ToolError) throw answer;
    return answer;
  }

  /** The client's roots; undefined if it has no such capability. */
  roots(): readonly ClientRoot[] | undefined {
    if (this.#capabilities?.roots === undefined) return undefined;
    return this.#ask("roots", { method: "roots/list" }, isRootList).roots;
  }

  /**
   * The answer to a question, from this round or an earlier one.
   *
   * @throws an error that ends the run if there is no valid answer yet; the handler runs again with the answer.
   */
  #ask<Answer>(
    kind: string,
    request: InputRequest,
    fits: (answer: unknown) => answer is Answer,
    name?: string,
  ): Answer {
    const key = name ?? `${kind}-${digest(JSON.stringify(request))}`;
    const answers = this.#given();
    const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
    if (fits(answer)) {
      this.#used.set(key, answer);
      return answer;
    }
    this.#needed ??= new Map();
    this.#needed.set(key, request);
    throw new Error(`the client must answer ${key}`);
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

/** The declared capabilities that exist in this revision: clients may also declare those of newer ones. */
function capabilitiesIn(
  { elicitation: asks, samplingTools }: Revision,
  declared: ClientCapabilities | undefined,
): ClientCapabilities | undefined {
  if (declared === undefined) return undefined;
  const { elicitation, sampling, ...others } = declared;
  const kept =
    asks === "modes" ? elicitation : asks === "forms" && hasForms(declared) ? {} : undefined;
  return {
    ...others,
    ...(sampling === undefined ? {} : { sampling: samplingTools ? sampling : {} }),
    ...(kept === undefined ? {} : { elicitation: kept }),
  };
}

/** Whether a client supports forms: yes if it declares no mode, no if it declares only URLs. */
export function hasForms(declared: ClientCapabilities | undefined): boolean {
  const elicitation = declared?.elicitation;
  return (
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  );
}

const ACTIONS: readonly unknown[] = ["accept", "decline", "cancel"];

function isElicitation(answer: unknown): answer is { action: string; content?: unknown } {
  return isObject(answer) && ACTIONS.includes(answer.action);
}

function isSample(answer: unknown): answer is SampleResult {
  return isObject(answer) && typeof answer.model === "string" && typeof answer.content === "object";
}

/** In revisions with a handshake, an error is the answer to a sampling request, so that the handler can do without it. */
function isSampleOrFailure(answer: unknown): answer is SampleResult | ToolError {
  return answer instanceof ToolError || isSample(answer);
}

function unanswered(error: unknown): ToolError {
  const why = error instanceof Error ? error.message : String(error);
  return new ToolError("unavailable", `The client did not answer: ${why}`);
}

export function isRootList(answer: unknown): answer is { roots: ClientRoot[] } {
  return (
    isObject(answer) &&
    Array.isArray(answer.roots) &&
    answer.roots.every((root) => isObject(root) && typeof root.uri === "string")
  );
}

function declined(): ToolError {
  return new ToolError("denied", "The user declined. Nothing was changed.", {
    code: "declined",
    hint: "Do not try another way; ask the user what they want instead.",
  });
}

function digest(text: string): string {
  return crypto().createHash("sha256").update(text).digest("base64url").slice(0, 16);
}

/**
 * Signs state that a client receives and returns (MCP 2026-07-28, `requestState`: it MUST be integrity-protected), with
 * HMAC-SHA-256 over the state, its expiry and its owner.
 *
 * @param owner what the state is for and who sent it; the same text is needed to verify it.
 */
function signed(state: unknown, owner: string, key: Uint8Array): string {
  const body = Buffer.from(JSON.stringify([Date.now() + STATE_MS, state])).toString("base64url");
  return `${body}.${signature(body, owner, key).toString("base64url")}`;
}

/** The state; undefined for a text that was changed, belongs to another owner or was signed with another key. */
function verified(
  text: string,
  owner: string,
  key: Uint8Array,
): Record<string, unknown> | "expired" | undefined {
  const [body = "", mac = ""] = text.split(".", 2);
  const given = Buffer.from(mac, "base64url");
  const expected = signature(body, owner, key);
  if (given.length !== expected.length || !crypto().timingSafeEqual(given, expected))
    return undefined;
  const [expires, state]: [number, Record<string, unknown>] = JSON.parse(
    Buffer.from(body, "base64url").toString("utf8"),
  );
  return Date.now() <= expires ? state : "expired";
}

function signature(body: string, owner: string, key: Uint8Array): Buffer {
  return crypto().createHmac("sha256", key).update(`${body.length}:${body}${owner}`).digest();
}
