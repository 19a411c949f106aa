import { isLoggingLevel } from "../define/content.ts";
import { type Caller, clientOf, notificationText, type Problem, type Send } from "./caller.ts";
import { errorText, internalError, invalidRequest, METHOD_NOT_FOUND } from "./errors.ts";
import { Load } from "./load.ts";
import { asUri, isObject, isRequestId, parseMessage, readMessage, show } from "./message.ts";
import { requestProblem } from "./params.ts";
import { ClientRequest, type Handler, publishCall } from "./request.ts";
import {
  agreedRevision,
  batchProblem,
  type HttpFacts,
  MODERN_VERSIONS,
  type Revision,
  revisionOf,
} from "./revision.ts";
import type { Service } from "./service.ts";
import { Subscriptions } from "./subscriptions.ts";
import type {
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
  RpcError,
} from "./wire.ts";

/** What a transport knows of a message besides its text. */
interface MessageFacts {
  /** Its size. Default: the length of its text. */
  readonly bytes?: number;
  /** For a message that came in a separate HTTP request, not over a connection. */
  readonly http?: HttpFacts | undefined;
}

/** A message as `serve` was called with it. */
interface Delivery extends MessageFacts {
  readonly caller: Caller;
  readonly send: Send;
  readonly bytes: number;
}

interface Method {
  readonly handler: Handler;
  /** Whether this caller has it in this revision. */
  readonly isFor: (revision: Revision, caller: Caller) => boolean;
}

const isModern: Method["isFor"] = ({ era }) => era === "modern";
const isLegacy: Method["isFor"] = ({ era }) => era === "legacy";
/** After a handshake, messages can be sent to the client at any time. */
const isSession: Method["isFor"] = ({ era }, { send }) => era === "legacy" && send !== undefined;
const hasTaskParameter: Method["isFor"] = ({ taskParameter }) => taskParameter;
const hasTasks: Method["isFor"] = ({ era, taskParameter }) => era === "modern" || taskParameter;

/** Methods that return the server's data, as its reading tools do. */
const READ_METHODS =
  /^(?:resources\/(?:list|read|subscribe)|subscriptions\/listen|prompts\/get|completion\/complete)$/;
/** Limits the size of a batch, since all answers are kept until the last one. */
const MAX_BATCH = 1_000;
const SERVER_CLOSED = internalError("The server closed before this request was finished.");
const BUSY: Problem = {
  error: internalError("Too many requests are pending; retry after a response."),
  reason: "busy",
};
const RATE: Problem = {
  error: internalError("Too many requests in this minute; retry in the next one."),
  reason: "rate",
};

/**
 * Serves messages of any number of callers, in all revisions, over any transport: parses and checks each
 * once, runs it and answers it. Every request gets exactly one answer unless it is cancelled; other messages get none.
 */
export class Engine {
  readonly service: Service;
  readonly load: Load;
  readonly #methods = new Map<string, Method>();
  /** All requests that are not over, by their caller's number and their id. */
  readonly #running = new Map<string, ClientRequest>();
  readonly #subscriptions: Subscriptions;
  /** The callers with a handshake, which are notified of changed lists. */
  readonly #sessionCallers = new Set<Caller>();
  readonly #unlisten: () => void;

  /** @param load the load of the process, with its limits. Default: without limits. */
  constructor(service: Service, load = new Load()) {
    this.service = service;
    this.load = load;
    this.#subscriptions = new Subscriptions(service, load);
    this.#addMethods();
    this.#unlisten = service.listen({
      resourceChanged: (uri) => this.#subscriptions.resourceChanged(uri),
      resourcesChanged: () => {
        this.#subscriptions.resourcesChanged();
        const json = notificationText("notifications/resources/list_changed", {});
        for (const caller of this.#sessionCallers) caller.send?.(json, "notification");
      },
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
    const delivery = { caller, send, bytes, http: facts.http };
    const result = isText ? parseMessage(message) : { value: message };
    if ("value" in result && Array.isArray(result.value)) this.#serveBatch(result.value, delivery);
    else if ("value" in result) this.#serveOne(result.value, delivery);
    // An empty line is not a message.
    else if (isText && /^\s*$/.test(message)) send(undefined, "answer");
    else refuse(delivery, result.id, result);
  }

  /**
   * Serves the entries of a batch (MCP 2025-03-26, "Batching"). The answer is one array in the order of the requests,
   * sent once every entry is settled. Entries without an answer are not in it; an empty one is not sent.
   */
  #serveBatch(values: readonly unknown[], delivery: Delivery) {
    const { caller, send, http } = delivery;
    const { length } = values;
    const size = `A batch must have 1 to ${MAX_BATCH} messages, not ${length}, without initialize.`;
    const opens = values.some((value) => Object(value).method === "initialize");
    const problem =
      batchProblem(caller, http) ??
      (opens || length === 0 || length > MAX_BATCH ? invalidRequest(size) : undefined) ??
      (this.load.requests.hasRoom(length, caller.owner) ? undefined : BUSY);
    if (problem !== undefined) return refuse(delivery, undefined, problem);
    const answers: (string | undefined)[] = [];
    let openCount = length;
    const bytes = Math.ceil(delivery.bytes / length);
    for (const [index, value] of values.entries()) {
      const collect: Send = (json, kind, why) => {
        if (kind === "notification" || kind === "question") return send(json, kind, why);
        answers[index] = json;
        openCount -= 1;
        if (openCount > 0) return;
        const text = answers.filter((answer) => answer !== undefined).join(",");
        send(text === "" ? undefined : `[${text}]`, "answer");
      };
      this.#serveOne(value, { ...delivery, send: collect, bytes });
    }
  }

  #serveOne(value: unknown, delivery: Delivery): void {
    const message = readMessage(value);
    // Every message counts. Only requests are refused: a notification may cancel some.
    const isOverRate = this.load.isOverRate(delivery.caller.owner);
    if (message.kind === "request") this.#serveRequest(message.message, delivery, isOverRate);
    else if (message.kind === "notification") this.#serveNotification(message.message, delivery);
    else if (message.kind === "response") serveResponse(message.message, delivery);
    else if (message.kind === "refused") refuse(delivery, message.id, message);
    else delivery.send(undefined, "refusal", { error: invalidRequest(message.why) });
  }

  #serveNotification(message: NotificationMessage, { caller, send, http }: Delivery) {
    const { method, params } = message;
    const revision = revisionOf(message, caller, http);
    if ("code" in revision) {
      const text = `notification ${show(method)}, because ${revision.message}`;
      const problem = { error: invalidRequest(text), reason: "unmatched" } as const;
      return send(undefined, "refusal", http === undefined ? problem : { error: revision });
    }
    if (method === "notifications/cancelled" && isRequestId(params?.requestId))
      this.#running.get(keyOf(caller, params.requestId))?.abort();
    if (caller.era === "legacy") this.service.onNotification?.(method, caller);
    send(undefined, "answer");
  }

  #serveRequest(message: RequestMessage, delivery: Delivery, isOverRate: boolean) {
    const { id, method } = message;
    const { caller, send, bytes, http } = delivery;
    const key = keyOf(caller, id);
    if (isOverRate) return this.#refuseRequest(message, delivery, RATE);
    const revision = this.#running.has(key)
      ? invalidRequest(`The id ${show(id)} belongs to a request that is still pending.`)
      : revisionOf(message, caller, http);
    if ("code" in revision) return this.#refuseRequest(message, delivery, revision);
    const entry = this.#methods.get(method);
    if (entry?.isFor(revision, caller) !== true)
      return send(errorText(id, METHOD_NOT_FOUND), "answer", { error: METHOD_NOT_FOUND });
    const problem = requestProblem(message) ?? this.#callerProblem(message, delivery);
    if (problem !== undefined) return this.#refuseRequest(message, delivery, problem);
    const { service, load } = this;
    const client = clientOf(message, caller, revision);
    const { handler } = entry;
    const onSettled = ({ isSubscription }: ClientRequest) => {
      this.#running.delete(key);
      caller.running -= 1;
      if (!isSubscription) caller.unanswered -= 1;
    };
    const parts = { service, load, caller, client, revision, send, bytes, handler, onSettled };
    const request = new ClientRequest(message, parts);
    this.#running.set(key, request);
    caller.running += 1;
    if (!request.isSubscription) caller.unanswered += 1;
    if (isSession(revision, caller)) this.#sessionCallers.add(caller);
    request.begin();
  }

  #refuseRequest(message: RequestMessage, delivery: Delivery, why: RpcError | Problem): void {
    const { code } = "error" in why ? why.error : why;
    publishCall({ ...message, caller: delivery.caller }, this.service, code);
    refuse(delivery, message.id, why);
  }

  /** Why a caller's request is not served now, or not at all: too many, or its token lacks a scope. */
  #callerProblem(message: RequestMessage, { caller, bytes }: Delivery): Problem | undefined {
    const { method, params } = message;
    const { tool, scopeFor } = this.service;
    const scopes = caller.principal?.scopes;
    if (scopes !== undefined) {
      const readEffect = READ_METHODS.test(method) ? "read" : undefined;
      const effect = method === "tools/call" ? tool(String(params?.name))?.effect : readEffect;
      const scope = effect === undefined ? undefined : scopeFor(effect);
      const error = invalidRequest(`The token lacks the scope ${scope}.`);
      if (scope !== undefined && !scopes.includes(scope)) return { error, reason: "scope", scope };
    }
    const isStream = method === "subscriptions/listen";
    const isFree =
      caller.unanswered < caller.maxUnanswered &&
      (isStream || this.load.requests.hasRoom(1, caller.owner)) &&
      this.load.hasRoomForBytes(bytes, caller.owner);
    return isFree ? undefined : BUSY;
  }

  /**
   * Ends what a caller has running, and its subscriptions.
   *
   * @param error what its requests are answered with. Default: that the server closed. null if the client has gone, so
   *   that there is nobody to answer.
   */
  async close(caller: Caller, error: RpcError | null = SERVER_CLOSED): Promise<void> {
    if (caller.isClosed) return;
    caller.isClosed = true;
    this.#sessionCallers.delete(caller);
    const requests = caller.running === 0 ? [] : [...this.#running.values()];
    for (const request of requests.filter((request) => request.caller === caller)) {
      if (error !== null && request.isSubscription) this.#subscriptions.end(request);
      request.abort(error ?? undefined);
    }
    caller.clientLeft();
    if (caller.send !== undefined) await this.#subscriptions.leave(caller);
  }

  /** Ends what all callers have running. No message is served afterwards. */
  async closeAll(): Promise<void> {
    this.#unlisten();
    const callers = new Set([...this.#running.values()].map(({ caller }) => caller));
    await Promise.all([...callers, ...this.#sessionCallers].map((caller) => this.close(caller)));
  }

  #addMethods(): void {
    const { methods, tasks, capabilities } = this.service;
    const add = (name: string, isFor: Method["isFor"], handler: Handler) =>
      this.#methods.set(name, { isFor, handler });
    for (const [name, handler] of methods) add(name, () => true, handler);
    add("server/discover", isModern, this.#discover);
    add("initialize", isLegacy, this.#initialize);
    add("ping", isLegacy, () => ({}));
    add("logging/setLevel", isSession, ({ params: { level }, caller }) => {
      if (isLoggingLevel(level)) caller.logLevel = level;
      return {};
    });
    add("tasks/get", hasTasks, tasks.get);
    add("tasks/cancel", hasTasks, tasks.cancel);
    add("tasks/update", isModern, tasks.update);
    add("tasks/result", hasTaskParameter, tasks.result);
    add("subscriptions/listen", isModern, (request) => this.#subscriptions.open(request));
    if (capabilities("legacy").resources?.subscribe !== true) return;
    add("resources/subscribe", isSession, async (request) => {
      await this.#subscriptions.subscribe(asUri(String(request.params.uri)), request);
      return {};
    });
    add("resources/unsubscribe", isSession, async ({ params, caller }) => {
      await this.#subscriptions.unsubscribe(asUri(String(params.uri)), caller);
      return {};
    });
  }

  readonly #discover: Handler = ({ client }) => {
    const { instructions, capabilities } = this.service;
    return {
      supportedVersions: MODERN_VERSIONS,
      instructions,
      capabilities: { ...capabilities("modern", client.capabilities), logging: {} },
    };
  };

  readonly #initialize: Handler = ({ params, caller }) => {
    const { identity, icons, instructions } = this.service;
    const revision = agreedRevision(params.protocolVersion);
    // Old versions of Cursor declare booleans.
    const objects = Object.entries(Object(params.capabilities)).filter(([, can]) => isObject(can));
    const clientCapabilities = Object.fromEntries(objects);
    const own = { ...this.service.capabilities("legacy", clientCapabilities) };
    if (caller.send === undefined) {
      // Nothing can be sent to the client later.
      if (own.resources !== undefined) Object.assign(own, { resources: {} });
    } else {
      caller.era = "legacy";
      caller.revision = revision;
      caller.capabilities = clientCapabilities;
      const tasks = { cancel: {}, requests: { tools: { call: {} } } };
      Object.assign(own, { logging: {} }, revision.taskParameter && { tasks });
    }
    return {
      protocolVersion: revision.version,
      capabilities: own,
      serverInfo: revision.icons ? { ...identity, icons } : identity,
      instructions,
    };
  };
}

function keyOf({ number }: Caller, id: RequestId): string {
  return typeof id === "string" ? `${number}"${id}` : `${number} ${id}`;
}

/** Refuses a message before it reaches a handler. */
function refuse(
  { caller, send, http }: Delivery,
  id: RequestId | undefined,
  why: RpcError | Problem,
): void {
  const problem = "error" in why ? why : { error: why };
  const version = caller.revision?.version ?? http?.version;
  send(errorText(id, problem.error, version), "refusal", problem);
}

/** Takes the client's answer to a question. */
function serveResponse(message: ResponseMessage, { caller, send }: Delivery) {
  if (caller.takeResponse(message)) return send(undefined, "answer");
  const text = `a response with id ${show(message.id)}, because no request was sent with it`;
  send(undefined, "refusal", { error: invalidRequest(text), reason: "unmatched" });
}
