import { channel } from "node:diagnostics_channel";
import { JsonText } from "@refmcp/boundary/answer";
import { type Icon, LOGGING_LEVELS, type LoggingLevel } from "../define/content.ts";
import type { Effect } from "../define/effect.ts";
import type { Awaitable } from "../define/tool.ts";
import type { Log } from "../log.ts";
import { type Caller, type Client, followsTasks, notificationText, type Send } from "./caller.ts";
import { errorText, internalError, ProtocolError, protocolError } from "./errors.ts";
import type { Load } from "./load.ts";
import { asUri } from "./message.ts";
import type { Revision } from "./revision.ts";
import {
  type Implementation,
  META,
  type Params,
  type RequestId,
  type RequestMessage,
  type RpcError,
} from "./wire.ts";

/** The channel of `node:diagnostics_channel` that publishes each finished or refused tool call, without its contents. */
export const CALLS = "refmcp:call";
const calls = channel(CALLS);

/** How long clients may keep a list (MCP 2026-07-28, "Caching"), in milliseconds: it does not change within a process. */
const LIST_TTL_MS = 600_000;
const LISTS = /^(?:(?:tools|prompts)\/list|server\/discover)$/;

/** The time between two progress notifications of a request (MCP, "Progress": SHOULD be limited). */
const REPORT_MS = 10;

/** Handles one request: returns its result, or rejects with the error. */
export type Handler = (request: ClientRequest) => Awaitable<object>;

/** A tool as audits and scopes see it. */
interface KnownTool {
  readonly name: string;
  readonly effect: Effect;
}

/** What a request needs to know of its server. */
export interface ServerFacts {
  readonly identity: Implementation;
  /** Its icons, which are sent when a connection is opened. */
  readonly icons: Icon[];
  readonly log: Log;
  /** A tool by any of its names. */
  tool(name: string): KnownTool | undefined;
}

/** A task that a call became: takes its answer, its questions and its progress. */
export interface TaskWork {
  readonly send: Send;
  reportProgress(message: string): void;
  /** Called when the client has answered all questions. */
  onInput(): void;
}

interface RequestParts {
  readonly service: ServerFacts;
  readonly handler: Handler;
  readonly caller: Caller;
  readonly client: Client;
  readonly revision: Revision;
  readonly send: Send;
  /** Counts the request until it is over and its handlers have settled. */
  readonly load: Load;
  readonly bytes: number;
  /** Called once, before its answer is sent, or when it becomes a task. */
  readonly onSettled: (request: ClientRequest) => void;
}

/** One request of a client, from its check to its one answer. */
export class ClientRequest {
  readonly id: RequestId;
  readonly method: string;
  params: Params;
  readonly caller: Caller;
  readonly client: Client;
  readonly revision: Revision;
  /** Sends its answer and what is sent before that. */
  send: Send;
  /** Whether it is answered or cancelled; nothing more is sent for it. */
  isOver = false;
  /** The task that it became, which then takes everything that it sends. */
  task: TaskWork | undefined;
  /** After how many milliseconds it becomes a task, which has more time than a call. */
  taskAfterMs = Number.POSITIVE_INFINITY;
  readonly load: Load;
  readonly #parts: RequestParts;
  #isAborted = false;
  /** Handlers that have not settled; they may outlive the request if they ignore the signal. */
  #handlers = 0;
  #whenAborted: Set<() => void> | undefined;
  #progress = Number.NEGATIVE_INFINITY;
  #nextReport = 0;
  /** In milliseconds of `performance.now()`. */
  readonly began = performance.now();

  constructor({ id, method, params = {} }: RequestMessage, parts: RequestParts) {
    this.id = id;
    this.method = method;
    this.params = params;
    this.caller = parts.caller;
    this.client = parts.client;
    this.revision = parts.revision;
    this.send = parts.send;
    this.load = parts.load;
    this.#parts = parts;
    this.#count(1);
  }

  /** Whether it stays open until it is cancelled. Such a request counts toward no limit, and nothing waits for it. */
  get isSubscription(): boolean {
    return this.method === "subscriptions/listen";
  }

  /** Whether its client can follow a task, and it is none yet. In 2025-11-25 a client asks for one in the call. */
  get canBecomeTask(): boolean {
    const { client, params, revision } = this;
    if (this.task !== undefined) return false;
    return revision.era === "modern"
      ? followsTasks(client)
      : revision.taskParameter && client.ask !== undefined && params.task !== undefined;
  }

  /** Runs the handler and answers, now or later. Called again with a task's call, which the client has answered. */
  begin(): void {
    try {
      const result = this.#parts.handler(this);
      if (isThenable(result)) result.then(this.answer, this.fail);
      else this.answer(result);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Answers with a handler's result, unless it is over. */
  readonly answer = (result: object): void => {
    if (this.isOver) return;
    let json: string;
    try {
      json = responseText(this.id, this.#inRevision(result));
    } catch (error) {
      // For example a value that is nested too deeply, a BigInt or a cycle.
      this.#parts.service.log.debug(`${this.method}: ${String(error)}`);
      this.fail(new ProtocolError(internalError("The result cannot be serialized as JSON.")));
      return;
    }
    this.#end(json, "isError" in result && result.isError === true ? "tool_error" : "ok");
  };

  /** Answers with what a handler threw, unless it is over. */
  readonly fail = (error: unknown): void => {
    if (this.isOver) return;
    const { uri } = this.params;
    const resource = typeof uri === "string" ? asUri(uri) : undefined;
    const { rpc } = protocolError(error, this.method, this.#parts.service.log, resource);
    this.#end(errorText(this.id, rpc), rpc);
  };

  /** Ends it before its work is done: with an error, or without an answer because the client does not want it. */
  abort(error?: RpcError): void {
    if (this.isOver) return;
    if (error === undefined) this.#end(undefined, "cancelled");
    else this.fail(new ProtocolError(error));
    this.#isAborted = true;
    for (const listener of this.#whenAborted ?? []) listener();
  }

  /** Answers it with a task, which takes what it sends from now on. It still counts until its work is over. */
  becomeTask(task: TaskWork, taskResult: object): void {
    this.#parts.onSettled(this);
    this.send(responseText(this.id, this.#inRevision(taskResult)), "answer");
    this.task = task;
    this.send = task.send;
  }

  /** Runs a task's call again, with the client's answers. */
  repeat(answers: object): void {
    this.params = { ...this.params, ...answers };
    this.isOver = false;
    this.#count(1);
    this.begin();
  }

  #inRevision(result: object): object {
    if (this.revision.era === "legacy") return result;
    const { identity, icons } = this.#parts.service;
    const isList = LISTS.test(this.method);
    const isCached = isList || this.method.startsWith("resources/");
    const cache = { ttlMs: isList ? LIST_TTL_MS : 0, cacheScope: "private" };
    return {
      resultType: "complete",
      ...(isCached && !("resultType" in result) && cache),
      ...result,
      // Every answer names the server; its icon is sent only with discovery.
      _meta: {
        ...("_meta" in result ? Object(result._meta) : undefined),
        [META.serverInfo]: this.method === "server/discover" ? { ...identity, icons } : identity,
      },
    };
  }

  /** @param outcome `tool_error`: a tool reported an error, which is its result. */
  #end(json: string | undefined, outcome: "ok" | "tool_error" | "cancelled" | RpcError): void {
    this.isOver = true;
    const error = typeof outcome === "string" ? undefined : outcome;
    const ms = performance.now() - this.began;
    publishCall(this, this.#parts.service, error?.code ?? outcome, ms, json?.length);
    if (this.task === undefined) this.#parts.onSettled(this);
    if (this.#handlers === 0) this.#count(-1);
    this.send(json, "answer", error === undefined ? undefined : { error });
  }

  #count(change: 1 | -1): void {
    if (this.isSubscription) return;
    const { requests, bytes } = this.load;
    requests.count(change, this.caller.owner);
    bytes.count(change * this.#parts.bytes, this.caller.owner);
  }

  /** Called when a handler starts to run for it, and when it has settled. `aborted` is called in between. */
  handlerBegan(aborted: () => void): void {
    this.#handlers += 1;
    this.whenAborted(aborted);
  }

  handlerSettled(aborted: () => void): void {
    this.#handlers -= 1;
    this.#whenAborted?.delete(aborted);
    if (this.isOver && this.#handlers === 0) this.#count(-1);
  }

  /** Calls `listener` when it is aborted; not when it is answered. */
  whenAborted(listener: () => void): void {
    this.#whenAborted ??= new Set();
    if (this.#isAborted) listener();
    else this.#whenAborted.add(listener);
  }

  notify(method: string, params: object): void {
    if (!this.isOver) this.send(notificationText(method, params), "notification");
  }

  /** Whether the client requested progress for this request. */
  get wantsProgress(): boolean {
    return this.params._meta?.progressToken !== undefined;
  }

  /** Reports progress to a client that requested it. It must increase (MCP, "Progress"), also across repeated runs. */
  reportProgress(progress: number, total?: number, message?: string) {
    const isWanted = this.wantsProgress || this.task !== undefined;
    if (!isWanted || !Number.isFinite(progress) || progress <= this.#progress) return;
    this.#progress = progress;
    const share = Number.isFinite(total) ? { progress, total } : { progress };
    if (this.task !== undefined)
      return this.task.reportProgress(message ?? Object.values(share).join(" of "));
    const now = performance.now();
    // The last report is always sent.
    if (now < this.#nextReport && progress !== total) return;
    this.#nextReport = now + REPORT_MS;
    const progressToken = this.params._meta?.progressToken;
    this.notify("notifications/progress", { progressToken, ...share, message });
  }

  /** Sends a log message to a client that wants its level. */
  log(level: LoggingLevel, data: unknown): void {
    const { logLevel } = this.client;
    if (logLevel === "none" || LOGGING_LEVELS.indexOf(level) < LOGGING_LEVELS.indexOf(logLevel))
      return;
    this.notify("notifications/message", { level, data });
  }
}

/** Publishes a tool call, for the audit log. */
export function publishCall(
  { method, params, caller }: Pick<ClientRequest, "method" | "caller"> & { params?: Params },
  service: Pick<ServerFacts, "tool">,
  outcome: unknown,
  ms = 0,
  answer_characters = 0,
): void {
  if (!calls.hasSubscribers || method !== "tools/call") return;
  // A name that no tool has is the client's text.
  const { name = null, effect = null } = service.tool(String(params?.name)) ?? {};
  const principal = caller.principal?.key ?? "";
  const call = { principal, tool: name, effect, ms: Math.round(ms), answer_characters, outcome };
  calls.publish(call);
}

/** A response as JSON text. `JsonText` is spliced in as structured content. */
function responseText(id: RequestId, result: object): string {
  if (!("structuredContent" in result && result.structuredContent instanceof JsonText))
    return JSON.stringify({ jsonrpc: "2.0", id, result });
  const { structuredContent, ...rest } = result;
  const text = JSON.stringify({ jsonrpc: "2.0", id, result: rest });
  return `${text.slice(0, -2)},"structuredContent":${structuredContent.text}}}`;
}

export function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof Object(value).then === "function";
}
