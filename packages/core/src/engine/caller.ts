import { LOGGING_LEVELS, type LoggingLevel } from "../define/content.ts";
import { internalError, ProtocolError } from "./errors.ts";
import type { Dialogue, Revision } from "./revision.ts";
import {
  type ClientCapabilities,
  META,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  type RpcError,
  TASKS_EXTENSION,
} from "./wire.ts";

/** Why a message is not served, for transports that report more than its error, such as HTTP. */
export interface Problem {
  readonly error: RpcError;
  /**
   * `busy` and `rate`: it can be served later. `scope`: the caller's token lacks a scope. `unmatched`: a notification or response
   * that belongs to nothing. None if the message is at fault, or the error is an answer.
   */
  readonly reason?: "busy" | "rate" | "scope" | "unmatched";
  readonly scope?: string;
}

/**
 * Where messages to a client go, as JSON text.
 *
 * Every message that is served ends with exactly one `answer` or `refusal`. Its text is undefined if nothing is to be
 * sent: for a notification, a response, or a request that the client cancelled.
 *
 * @param kind `answer`, of a handler; `refusal`, of a message that reached none; a `notification`; a `question`, which is
 *   a request of the server.
 * @param problem why, if the answer or refusal is an error.
 */
export type Send = (
  json: string | undefined,
  kind: "answer" | "refusal" | "notification" | "question",
  problem?: Problem,
) => void;

/** Who is authorized to call. */
export interface Principal {
  /** Different for callers that must not see each other's sessions and answers. */
  readonly key: string;
  /** Whose share of the process it uses: the subject of a token, for any token and client. */
  readonly owner: string;
  /** The scopes that its token has, if tools need some; undefined if all tools are allowed. */
  readonly scopes?: readonly string[] | undefined;
  /** When its access expires, in milliseconds of `Date.now()`; undefined for never. */
  readonly expiresAt?: number;
}

/** The client of a request: a caller that `initialize` described, or the description in a modern request. */
export interface Client {
  /** Its declared capabilities; undefined if it declared none. */
  readonly capabilities: ClientCapabilities | undefined;
  /** The lowest log level that it wants; `none` for no messages. */
  readonly logLevel: LoggingLevel | "none";
  readonly principal: Principal | undefined;
  /** Sends a request to the client, and resolves with its result; only after a handshake. */
  readonly ask?:
    | ((method: string, params: object | undefined, limit: AskLimit) => Promise<unknown>)
    | undefined;
}

interface AskLimit {
  readonly timeoutMs: number;
  /** The request that the question belongs to; when it ends, the question is cancelled. */
  readonly request?: {
    readonly isOver: boolean;
    readonly send?: Send;
    whenAborted(listener: () => void): void;
  };
}

const REQUEST_ENDED = "The request that this question belongs to has ended.";
const CLIENT_LEFT = "The client closed the connection before it answered.";
let callerCount = 0;

/**
 * Who sends messages: the other end of a connection, a session, or a single HTTP request. After a handshake it is also
 * the client of its requests, which can be asked.
 */
export class Caller implements Client, Dialogue {
  /** Distinguishes it from all others, so that their ids may be the same. */
  readonly number = callerCount++;
  /** That of its last message: a new token may have other scopes. */
  principal: Principal | undefined;
  /**
   * Sends messages that belong to no request. Without it, messages are independent: there is no handshake to remember,
   * and the client cannot be asked.
   */
  readonly send: Send | undefined;
  /** How many requests may be unanswered. Default: any number. */
  readonly maxUnanswered: number;
  readonly ask: Client["ask"];
  era: Dialogue["era"];
  revision: Revision | undefined;
  capabilities: ClientCapabilities | undefined;
  logLevel: LoggingLevel = "debug";
  /** Its requests without an answer, apart from subscriptions. */
  unanswered = 0;
  /** All its requests that are not over. */
  running = 0;
  isClosed = false;
  /** The requests to the client that it has not answered: what takes the response, or why there is none. */
  readonly #questions = new Map<RequestId, (answer: ResponseMessage | string) => void>();
  #lastQuestion = 0;
  #hasLeft = false;

  constructor(options: Partial<Pick<Caller, "principal" | "send" | "maxUnanswered">> = {}) {
    const { principal, send, maxUnanswered = Number.POSITIVE_INFINITY } = options;
    this.principal = principal;
    this.send = send;
    this.maxUnanswered = maxUnanswered;
    if (send !== undefined) this.ask = this.#ask;
  }

  /** Whose share of the process it uses. */
  get owner(): string {
    return this.principal?.owner ?? "";
  }

  /**
   * Whether to read no more from the client until something is answered. While calls wait for the client's answers, its
   * messages must be read, so further requests are refused instead.
   */
  get isHeld(): boolean {
    return this.unanswered >= this.maxUnanswered && this.#questions.size === 0;
  }

  /** @throws ProtocolError with the client's error, or -32603 if no answer arrives in time. */
  readonly #ask: NonNullable<Client["ask"]> = (method, params, { timeoutMs, request }) =>
    new Promise((resolve, reject) => {
      this.#lastQuestion += 1;
      const id = this.#lastQuestion;
      const settle = (answer: ResponseMessage | string) => {
        clearTimeout(timer);
        this.#questions.delete(id);
        if (typeof answer === "string") reject(new ProtocolError(internalError(answer)));
        else if ("error" in answer) reject(new ProtocolError(answer.error));
        else resolve(answer.result);
      };
      const withdraw = (reason: string) => {
        if (!this.#questions.has(id)) return;
        const cancelNotice = notificationText("notifications/cancelled", { requestId: id, reason });
        this.send?.(cancelNotice, "notification");
        settle(reason);
      };
      const timeoutReason = `The client did not answer within ${timeoutMs / 1000} s.`;
      const timer = setTimeout(() => withdraw(timeoutReason), timeoutMs);
      if (this.#hasLeft) return settle(CLIENT_LEFT);
      if (request?.isOver === true) return settle(REQUEST_ENDED);
      this.#questions.set(id, settle);
      request?.whenAborted(() => withdraw(REQUEST_ENDED));
      const send = request?.send ?? this.send;
      send?.(JSON.stringify({ jsonrpc: "2.0", id, method, params }), "question");
    });

  /** Takes the client's response to a question. @returns false if none with its id is open. */
  takeResponse(message: ResponseMessage): boolean {
    const settle = this.#questions.get(message.id);
    settle?.(message);
    return settle !== undefined;
  }

  /** Called when the client closes its end: open questions fail, and the calls that asked continue without an answer. */
  clientLeft(): void {
    this.#hasLeft = true;
    for (const settle of [...this.#questions.values()]) settle(CLIENT_LEFT);
  }
}

/**
 * The client of a request: that of its envelope, which is already checked; after a handshake, the caller. Without a
 * session, the client can only be answered.
 */
export function clientOf({ params }: RequestMessage, caller: Caller, { era }: Revision): Client {
  const { principal } = caller;
  if (era === "legacy")
    return caller.send === undefined
      ? { capabilities: undefined, logLevel: "none", principal }
      : caller;
  const meta: Readonly<Record<string, unknown>> = params?._meta ?? {};
  const level = LOGGING_LEVELS.find((candidate) => candidate === meta[META.logLevel]);
  return { capabilities: Object(meta[META.capabilities]), logLevel: level ?? "none", principal };
}

/** Whether a modern client declares tasks. */
export function followsTasks({ capabilities }: Client): boolean {
  return capabilities?.extensions?.[TASKS_EXTENSION] !== undefined;
}

export function notificationText(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
