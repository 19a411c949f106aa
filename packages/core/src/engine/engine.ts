import { isLoggingLevel } from "../define/content.ts";
import { type Caller, clientOf, notificationText, type Problem, type Send } from "./caller.ts";
import { errorText, internalError, invalidRequest, METHOD_NOT_FOUND } from "./errors.ts";
import { Load } from "./load.ts";
import { asUri, isRequestId, parseMessage, readMessage, show } from "./message.ts";
import { requestProblem } from "./params.ts";
import { ClientRequest, type Handler } from "./request.ts";
import {
  agreedRevision,
  batchProblem,
  type HttpFacts,
  MODERN_VERSIONS,
  REVISIONS,
  type Revision,
  responseProblem,
  revisionOf,
} from "./revision.ts";
import { missingScope, type Service } from "./service.ts";
import { Subscriptions } from "./subscriptions.ts";
import type {
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
  RpcError,
} from "./wire.ts";

/** What a transport knows of a message besides its text. */
export interface MessageFacts {
  /** Its size. Default: the length of its text. */
  readonly bytes?: number;
  /** For a message that came in a separate HTTP request, not over a connection. */
  readonly http?: HttpFacts | undefined;
}

/** How a message is served: what `serve` was called with, and whether it is an entry of a batch. */
interface Delivery {
  readonly caller: Caller;
  readonly send: Send;
  readonly bytes: number;
  readonly http: HttpFacts | undefined;
  readonly isInBatch: boolean;
}

/**
 * A method, and who has it.
 *
 * - `all`: every revision.
 * - `modern`, `legacy`: the revisions of an era.
 * - `session`: callers with a handshake that messages can be sent to at any time.
 * - `tasks`: 2026-07-28, and callers with a handshake for 2025-11-25.
 * - `legacy tasks`: only the latter.
 */
interface Method {
  readonly handler: Handler;
  readonly scope: "all" | "modern" | "legacy" | "session" | "tasks" | "legacy tasks";
}

/** Limits the size of a batch, since all answers are kept until the last one. */
const MAX_BATCH = 1_000;
const CLOSED = internalError("The server closed before this request was finished.");

/**
 * Serves messages of any number of callers, in all revisions, whatever transport brings them: parses and checks each
 * once, runs it and answers it. Every request gets exactly one answer unless it is cancelled; other messages get none.
 */
export class Engine {
  readonly service: Service;
  readonly load: Load;
  readonly #methods: ReadonlyMap<string, Method>;
  /** All requests that are not over, by their caller's number and their id. */
  readonly #running = new Map<string, ClientRequest>();
  readonly #subscriptions: Subscriptions;
  /** The callers with a handshake, which are notified of changed lists. */
  readonly #listed = new Set<Caller>();
  readonly #unlisten: () => void;

  /** @param load the load of the process, with its limits. Default: without limits. */
  constructor(service: Service, load = new Load()) {
    this.service = service;
    this.load = load;
    this.#subscriptions = new Subscriptions(service, load);
    this.#methods = this.#allMethods();
    this.#unlisten = service.listen({
      changed: (uri) => this.#subscriptions.changed(uri),
      resourcesChanged: () => this.#resourcesChanged(),
    });
  }

  /**
   * Serves one message or batch.
   *
   * @param message JSON text, or its parsed value, which is then owned by the engine.
   * @param caller who sent it; the same for all messages of a connection or session.
   * @param send takes its answer, and what is sent before that.
   */
  serve(message: unknown, caller: Caller, send: Send, facts: MessageFacts = {}): void {
    if (caller.isClosed) return;
    const isText = typeof message === "string";
    const bytes = facts.bytes ?? (isText ? message.length : 0);
    const delivery = { caller, send, bytes, http: facts.http, isInBatch: false };
    const parsed = isText ? parseMessage(message) : { value: message };
    if ("value" in parsed && Array.isArray(parsed.value)) this.#serveBatch(parsed.value, delivery);
    else if ("value" in parsed) this.#serveOne(parsed.value, delivery);
    // An empty line is not a message.
    else if (isText && /^\s*$/.test(message)) send(undefined, "answer");
    else refuse(delivery, parsed.id, parsed);
  }

  /**
   * Ends what a caller has running, and its subscriptions.
   *
   * @param error what its requests are answered with. Default: that the server closed. null if the client has gone, so
   *   that there is nobody to answer.
   */
  async close(caller: Caller, error: RpcError | null = CLOSED): Promise<void> {
    if (caller.isClosed) return;
    caller.isClosed = true;
    this.#listed.delete(caller);
    if (caller.running > 0)
      for (const request of [...this.#running.values()])
        if (request.caller === caller) this.#close(request, error);
    caller.left();
    if (caller.send !== undefined) await this.#subscriptions.leave(caller);
  }

  /** Ends what all callers have running. No message is served afterwards. */
  async closeAll(): Promise<void> {
    this.#unlisten();
    const callers = new Set([...this.#running.values()].map(({ caller }) => caller));
    await Promise.all([...callers, ...this.#listed].map((caller) => this.close(caller)));
  }

  #close(request: ClientRequest, error: RpcError | null): void {
    if (error !== null && request.isSubscription) this.#subscriptions.end(request);
    request.abort(error ?? undefined);
  }

  /**
   * Serves the entries of a batch (MCP 2025-03-26, "Batching"). The answer is one array in the order of the requests,
   * sent once every entry is settled. Entries without an answer are not in it; an empty one is not sent.
   */
  #serveBatch(values: readonly unknown[], delivery: Delivery): void {
    const { caller, send, http } = delivery;
    const problem = batchProblem(caller, http) ?? this.#batchSizeProblem(values, caller);
    if (problem !== undefined) {
      refuse(delivery, undefined, problem);
      return;
    }
    const answers: (string | undefined)[] = [];
    let open = values.length;
    const bytes = Math.ceil(delivery.bytes / values.length);
    for (const [index, value] of values.entries()) {
      const collect: Send = (json, kind, why) => {
        if (kind === "notification" || kind === "question") {
          send(json, kind, why);
          return;
        }
        answers[index] = json;
        open -= 1;
        const entries = open > 0 ? [] : answers.filter((answer) => answer !== undefined);
        if (open === 0) send(entries.length === 0 ? undefined : `[${entries.join(",")}]`, "answer");
      };
      this.#serveOne(value, { ...delivery, send: collect, bytes, isInBatch: true });
    }
  }

  #batchSizeProblem({ length }: readonly unknown[], { owner }: Caller): Problem | undefined {
    if (length === 0 || length > MAX_BATCH)
      return {
        error: invalidRequest(`A batch must have 1 to ${MAX_BATCH} messages, not ${length}.`),
      };
    return this.load.requests.hasRoom(length, owner) ? undefined : BUSY;
  }

  #serveOne(value: unknown, delivery: Delivery): void {
    const incoming = readMessage(value);
    if (incoming.kind === "request") this.#serveRequest(incoming.message, delivery);
    else if (incoming.kind === "notification") this.#serveNotification(incoming.message, delivery);
    else if (incoming.kind === "response") serveResponse(incoming.message, delivery);
    else if (incoming.kind === "refused") refuse(delivery, incoming.id, incoming);
    else delivery.send(undefined, "refusal", { error: invalidRequest(incoming.why) });
  }

  #serveNotification(message: NotificationMessage, { caller, send, http }: Delivery): void {
    const { method, params } = message;
    const revision = revisionOf(message, caller, http, this.#isModernMethod);
    if ("code" in revision) {
      const what = `notification ${show(method)}, because ${revision.message}`;
      const unmatched = { error: invalidRequest(what), reason: "unmatched" } as const;
      send(undefined, "refusal", http === undefined ? unmatched : { error: revision });
      return;
    }
    if (method === "notifications/cancelled" && isRequestId(params?.requestId))
      this.#running.get(keyOf(caller, params.requestId))?.abort();
    if (caller.phase === "legacy") this.service.notified?.(method, caller);
    send(undefined, "answer");
  }

  #serveRequest(message: RequestMessage, delivery: Delivery): void {
    const { id, method } = message;
    const { caller, send, bytes, http } = delivery;
    const key = keyOf(caller, id);
    const revision = this.#running.has(key)
      ? invalidRequest(`The id ${show(id)} belongs to a request that is still pending.`)
      : revisionOf(message, caller, http, this.#isModernMethod);
    if ("code" in revision) {
      refuse(delivery, id, revision);
      return;
    }
    const handler = this.#handlerOf(method, revision, caller);
    if (handler === undefined) {
      send(errorText(id, METHOD_NOT_FOUND), "answer", { error: METHOD_NOT_FOUND });
      return;
    }
    const problem =
      handshakeProblem(method, delivery) ??
      requestProblem(message, revision.era) ??
      this.#callerProblem(message, delivery);
    if (problem !== undefined) {
      refuse(delivery, id, problem);
      return;
    }
    const request = new ClientRequest(message, {
      key,
      service: this.service,
      load: this.load,
      caller,
      client: clientOf(message, caller, revision),
      revision,
      send,
      bytes,
      settled: this.#settled,
    });
    this.#begin(request, handler);
  }

  #begin(request: ClientRequest, handler: Handler): void {
    const { caller, revision } = request;
    this.#running.set(request.key, request);
    caller.running += 1;
    if (!request.isSubscription) caller.unanswered += 1;
    if (revision.era === "legacy" && caller.send !== undefined) this.#listed.add(caller);
    request.begin(handler);
  }

  readonly #settled = (request: ClientRequest): void => {
    const { caller } = request;
    this.#running.delete(request.key);
    caller.running -= 1;
    if (!request.isSubscription) caller.unanswered -= 1;
  };

  /** Why a caller's request is not served now, or not at all: too many, or its token lacks a scope. */
  #callerProblem(
    message: RequestMessage,
    { caller, bytes, isInBatch }: Delivery,
  ): Problem | undefined {
    const { principal, owner } = caller;
    const { requests, rates } = this.load;
    const scope = missingScope(this.service, principal, message);
    if (scope !== undefined)
      return {
        error: invalidRequest(`The token lacks the scope ${scope}.`),
        reason: "scope",
        scope,
      };
    const isFree = isInBatch || caller.unanswered < caller.maxUnanswered;
    const isStream = message.method === "subscriptions/listen";
    if (!isFree || !(isStream || requests.hasRoom(1, owner)) || !this.load.hasRoomForBytes(bytes))
      return BUSY;
    const seconds = rates.retryAfter(owner);
    if (seconds === 0) return undefined;
    const error = internalError(`Too many requests; retry after ${seconds} s.`);
    return { error, reason: "rate", retryAfter: seconds };
  }

  #handlerOf(method: string, revision: Revision, caller: Caller): Handler | undefined {
    const found = this.#methods.get(method);
    if (found === undefined) return undefined;
    const isModern = revision.era === "modern";
    const isSession = !isModern && caller.send !== undefined;
    switch (found.scope) {
      case "all":
        return found.handler;
      case "modern":
        return isModern ? found.handler : undefined;
      case "legacy":
        return isModern ? undefined : found.handler;
      case "session":
        return isSession ? found.handler : undefined;
      case "tasks":
        return isModern || (isSession && revision.taskParameter) ? found.handler : undefined;
      case "legacy tasks":
        return isSession && revision.taskParameter ? found.handler : undefined;
    }
  }

  readonly #isModernMethod = (method: string): boolean => {
    const scope = this.#methods.get(method)?.scope;
    return scope === "all" || scope === "modern" || scope === "tasks";
  };

  #allMethods(): ReadonlyMap<string, Method> {
    const { methods, tasks, capabilities } = this.service;
    const all = new Map<string, Method>();
    const add = (scope: Method["scope"], handlers: Iterable<readonly [string, Handler]>) => {
      for (const [name, handler] of handlers) all.set(name, { scope, handler });
    };
    const { logging, resources } = capabilities("legacy");
    add("all", methods);
    add("modern", [
      ["server/discover", this.#discover],
      ["subscriptions/listen", (request) => this.#subscriptions.open(request)],
      ["tasks/update", tasks.update],
    ]);
    add("tasks", [
      ["tasks/get", tasks.get],
      ["tasks/cancel", tasks.cancel],
    ]);
    add("legacy tasks", [["tasks/result", tasks.result]]);
    add("legacy", [
      ["initialize", this.#initialize],
      ["ping", () => ({})],
    ]);
    if (logging !== undefined) add("session", [["logging/setLevel", setLevel]]);
    if (resources?.subscribe === true)
      add("session", [
        ["resources/subscribe", this.#subscribe],
        ["resources/unsubscribe", this.#unsubscribe],
      ]);
    return all;
  }

  readonly #discover: Handler = ({ client }) => {
    const { instructions, capabilities } = this.service;
    return {
      supportedVersions: MODERN_VERSIONS,
      instructions,
      capabilities: capabilities("modern", client.capabilities),
    };
  };

  readonly #initialize: Handler = ({ params, caller }) => {
    const { identity, icons, instructions } = this.service;
    const revision = agreedRevision(params.protocolVersion);
    const declared = Object(params.capabilities);
    const { logging, ...own } = this.service.capabilities("legacy", declared);
    const hasResources = own.resources !== undefined;
    if (caller.send !== undefined) {
      caller.phase = "legacy";
      caller.revision = revision;
      caller.capabilities = declared;
      if (logging !== undefined) Object.assign(own, { logging });
      const tasks = { cancel: {}, requests: { tools: { call: {} } } };
      if (revision.taskParameter) Object.assign(own, { tasks });
    } else if (hasResources) Object.assign(own, { resources: {} });
    return {
      protocolVersion: revision.version,
      capabilities: own,
      serverInfo: revision.icons ? { ...identity, icons } : identity,
      instructions,
    };
  };

  readonly #subscribe: Handler = async (request) => {
    const uri = asUri(String(request.params.uri));
    await this.#subscriptions.subscribe(uri, request.caller, request);
    return {};
  };

  readonly #unsubscribe: Handler = async ({ params, caller }) => {
    await this.#subscriptions.unsubscribe(asUri(String(params.uri)), caller);
    return {};
  };

  #resourcesChanged(): void {
    this.#subscriptions.resourcesChanged();
    const json = notificationText("notifications/resources/list_changed", {});
    for (const caller of this.#listed) caller.send?.(json, "notification");
  }
}

const BUSY: Problem = {
  error: internalError("Too many requests are pending; retry after a response."),
  reason: "busy",
};

const setLevel: Handler = ({ params: { level }, caller }) => {
  if (isLoggingLevel(level)) caller.logLevel = level;
  return {};
};

/** Why `initialize` is refused: it must not be in a batch, and a session over HTTP has only one. */
function handshakeProblem(
  method: string,
  { caller, http, isInBatch }: Delivery,
): RpcError | undefined {
  if (method !== "initialize") return undefined;
  if (isInBatch) return invalidRequest("initialize must not be part of a batch.");
  if (http === undefined || caller.revision === undefined) return undefined;
  return invalidRequest(
    "This session is already initialized. Open another one without the Mcp-Session-Id header.",
  );
}

function keyOf({ number }: Caller, id: RequestId): string {
  return typeof id === "string" ? `${number}"${id}` : `${number} ${id}`;
}

/** Refuses a message before it reaches a handler. */
function refuse(
  { caller, send, http }: Pick<Delivery, "caller" | "send" | "http">,
  id: RequestId | undefined,
  why: RpcError | Problem,
): void {
  const problem = "error" in why ? why : { error: why };
  const revision = caller.revision ?? REVISIONS.get(http?.version ?? "");
  send(errorText(id, problem.error, revision), "refusal", problem);
}

/** Takes the client's answer to a question. */
function serveResponse(message: ResponseMessage, { caller, send, http }: Delivery): void {
  const problem = responseProblem(http);
  if (problem !== undefined) send(undefined, "refusal", { error: problem });
  else if (caller.answered(message)) send(undefined, "answer");
  else {
    const what = `a response with id ${show(message.id)}, because no request was sent with it`;
    send(undefined, "refusal", { error: invalidRequest(what), reason: "unmatched" });
  }
}
