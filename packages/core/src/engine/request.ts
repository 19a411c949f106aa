import { channel } from "node:diagnostics_channel";
import { JsonText } from "@refmcp/boundary/answer";
import { type Icon, LOGGING_LEVELS, type LoggingLevel } from "../define/content.ts";
import type { Effect } from "../define/effect.ts";
import type { Awaitable } from "../define/tool.ts";
import { type Log, trace } from "../log.ts";
import { type Caller, type Client, notificationText, type Send } from "./caller.ts";
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

/** The channel of `node:diagnostics_channel` on which every tool call that is over is published. */
export const CALLS = "refmcp:call";
const calls = channel(CALLS);

/** What became of a tool call, for audits and metrics; nothing of its contents. */
interface CallOutcome {
  /** The caller's key; "" without authentication. */
  readonly principal: string;
  /** The tool and what it may do; null if there is none of that name, which is the client's text. */
  readonly tool: string | null;
  readonly effect: Effect | null;
  /** From the message to its answer, in milliseconds. */
  readonly ms: number;
  readonly answer_characters: number;
  /** `tool_error`: a tool reported an error. A number: the code of a protocol error. */
  readonly outcome: "ok" | "tool_error" | "cancelled" | number;
}

/**
 * How long clients may keep a result (MCP 2026-07-28, "Caching"), in milliseconds. Lists do not change within a
 * process.
 */
const TTL_MS: ReadonlyMap<string, number> = new Map([
  ["tools/list", 600_000],
  ["prompts/list", 600_000],
  ["server/discover", 600_000],
  ["skills/list", 600_000],
  ["skills/get", 600_000],
  ["resources/list", 0],
  ["resources/templates/list", 0],
  ["resources/read", 0],
]);

/** Limits the progress notifications of a request (MCP, "Progress": SHOULD): the first ones at once, then one in a while. */
const REPORTS_AT_ONCE = 60;
const REPORT_MS = 100;

/** Returned by a handler that answers the request itself, later. */
export const LATER = Symbol("answered later");

/** Handles one request: returns its result, or rejects with the error. */
export type Handler = (request: ClientRequest) => Awaitable<object | typeof LATER>;

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
  progressed(message: string): void;
  /** Called when the client has answered all questions. */
  inputReceived(): void;
}

interface RequestParts {
  /** Distinguishes it from all running requests of all callers. */
  readonly key: string;
  readonly service: ServerFacts;
  readonly caller: Caller;
  readonly client: Client;
  readonly revision: Revision;
  readonly send: Send;
  /** Counts the request until it is over and its handlers have settled. */
  readonly load: Load;
  readonly bytes: number;
  /** Called once, before its answer is sent, or when it becomes a task. */
  readonly settled: (request: ClientRequest) => void;
}

/** One request of a client, from its check to its one answer. */
export class ClientRequest {
  readonly id: RequestId;
  readonly method: string;
  params: Params;
  client: Client;
  /** Sends its answer and what is sent before that. */
  send: Send;
  /** Whether it is answered or cancelled; nothing more is sent for it. */
  isOver = false;
  /** The task that it became, which then takes everything that it sends. */
  task: TaskWork | undefined;
  readonly #parts: RequestParts;
  #handler: Handler | undefined;
  #isAborted = false;
  /** Bytes of the message that are still counted. */
  #bytes: number;
  /** Handlers that have not settled; they may outlive the request if they ignore the signal. */
  #handlers = 0;
  #whenAborted: (() => void)[] | undefined;
  #progress = Number.NEGATIVE_INFINITY;
  #reports = 0;
  #reportedAt = 0;
  /** In milliseconds of `performance.now()`. */
  readonly #began = performance.now();

  constructor({ id, method, params = {} }: RequestMessage, parts: RequestParts) {
    this.id = id;
    this.method = method;
    this.params = params;
    this.client = parts.client;
    this.send = parts.send;
    this.#parts = parts;
    this.#bytes = parts.bytes;
    this.#count(1);
  }

  get key(): string {
    return this.#parts.key;
  }

  get caller(): Caller {
    return this.#parts.caller;
  }

  get revision(): Revision {
    return this.#parts.revision;
  }

  /** Whether it stays open until it is cancelled. Such a request counts toward no limit, and nothing waits for it. */
  get isSubscription(): boolean {
    return this.method === "subscriptions/listen";
  }

  /** Runs the handler and answers, now or later. Called again with a task's call, which the client has answered. */
  begin(handler = this.#handler): void {
    if (handler === undefined) return;
    this.#handler = handler;
    const traceparent = this.params._meta?.[META.traceparent];
    const span = typeof traceparent === "string" ? TRACEPARENT.exec(traceparent) : null;
    if (span !== null)
      trace.run(`trace_id=${span[1]} span_id=${span[2]}`, () => this.#handle(handler));
    // The first trace makes every promise of the process more expensive (Node.js 20), so no context is entered without.
    else if (trace.getStore() === undefined) this.#handle(handler);
    else trace.exit(() => this.#handle(handler));
  }

  #handle(handler: Handler): void {
    try {
      const result = handler(this);
      if (isThenable(result)) result.then(this.answer, this.fail);
      else this.answer(result);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Answers with a handler's result, unless it is over. */
  readonly answer = (result: object | typeof LATER): void => {
    if (this.isOver || result === LATER) return;
    let json: string;
    try {
      json = responseText(this.id, this.#inRevision(result));
    } catch (error) {
      // For example a value that is nested too deeply, a BigInt or a cycle.
      this.#parts.service.log.debug(`${this.method}: ${String(error)}`);
      this.fail(new ProtocolError(internalError("The result cannot be serialized as JSON.")));
      return;
    }
    this.#end(json, undefined, "isError" in result && result.isError === true);
  };

  /** Answers with whatever a handler threw, unless it is over. */
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
    if (error === undefined) this.#end(undefined);
    else this.fail(new ProtocolError(error));
    this.#isAborted = true;
    for (const listener of this.#whenAborted ?? []) listener();
  }

  /** Answers it with a task, which takes what it sends from now on. It still counts until its work is over. */
  becomeTask(task: TaskWork, shown: object): void {
    this.#parts.settled(this);
    const { send } = this;
    this.task = task;
    this.send = task.send;
    send(responseText(this.id, this.#inRevision(shown)), "answer");
  }

  /** Runs a task's call again, with the client's answers. */
  repeat(answers: object): void {
    this.params = { ...this.params, ...answers };
    this.isOver = false;
    this.#count(1);
    this.begin();
  }

  /** Drops what only the beginning of a subscription needs; it may stay open for days. */
  dropMessage(): void {
    this.#parts.load.bytes.count(-this.#bytes);
    this.#bytes = 0;
    this.params = {};
    this.client = { ...this.client, capabilities: undefined };
  }

  #inRevision(result: object): object {
    if (this.revision.era === "legacy") return result;
    const { identity, icons } = this.#parts.service;
    const ttlMs = TTL_MS.get(this.method);
    return {
      resultType: "complete",
      ...(ttlMs === undefined || "resultType" in result ? {} : { ttlMs, cacheScope: "private" }),
      ...result,
      // Every answer names the server; its icon is sent only with discovery.
      _meta: {
        ...("_meta" in result ? Object(result._meta) : undefined),
        [META.serverInfo]: this.method === "server/discover" ? { ...identity, icons } : identity,
      },
    };
  }

  #end(json: string | undefined, error?: RpcError, isToolError = false): void {
    this.isOver = true;
    if (calls.hasSubscribers && this.method === "tools/call")
      this.#publish(
        json,
        json === undefined ? "cancelled" : (error?.code ?? (isToolError ? "tool_error" : "ok")),
      );
    if (this.task === undefined) this.#parts.settled(this);
    if (this.#handlers === 0) this.#count(-1);
    this.send(json, "answer", error === undefined ? undefined : { error });
  }

  #publish(json: string | undefined, outcome: CallOutcome["outcome"]): void {
    const tool = this.#parts.service.tool(String(this.params.name));
    const published: CallOutcome = {
      principal: this.client.principal?.key ?? "",
      tool: tool?.name ?? null,
      effect: tool?.effect ?? null,
      ms: Math.round(performance.now() - this.#began),
      answer_characters: json?.length ?? 0,
      outcome,
    };
    calls.publish(published);
  }

  #count(change: 1 | -1): void {
    const { load, caller } = this.#parts;
    if (!this.isSubscription) load.requests.count(change, caller.owner);
    load.bytes.count(change * this.#bytes);
  }

  /** Called when a handler starts to run for it, and when it has settled. */
  handlerBegan(): void {
    this.#handlers += 1;
  }

  handlerSettled(): void {
    this.#handlers -= 1;
    if (this.isOver && this.#handlers === 0) this.#count(-1);
  }

  /** Calls `listener` when it is aborted; not when it is answered. */
  whenAborted(listener: () => void): void {
    if (this.#isAborted) {
      listener();
      return;
    }
    this.#whenAborted ??= [];
    this.#whenAborted.push(listener);
  }

  notify(method: string, params: object): void {
    if (!this.isOver) this.send(notificationText(method, params), "notification");
  }

  /** Whether the client requested progress for this request. */
  get wantsProgress(): boolean {
    return this.params._meta?.progressToken !== undefined;
  }

  /** Reports progress to a client that requested it. It must increase (MCP, "Progress"), also across repeated runs. */
  reportProgress(progress: number, total: number | undefined, message: string | undefined): void {
    const isWanted = this.wantsProgress || this.task !== undefined;
    if (!isWanted || !Number.isFinite(progress) || progress <= this.#progress) return;
    this.#progress = progress;
    if (this.task !== undefined) {
      const share = Number.isFinite(total) ? `${progress} of ${total}` : String(progress);
      this.task.progressed(message ?? share);
      return;
    }
    const now = performance.now();
    // The last report is always sent.
    const isExtra = this.#reports >= REPORTS_AT_ONCE && now - this.#reportedAt < REPORT_MS;
    if (isExtra && progress !== total) return;
    this.#reports += 1;
    this.#reportedAt = now;
    this.notify("notifications/progress", {
      progressToken: this.params._meta?.progressToken,
      progress,
      ...(Number.isFinite(total) ? { total } : {}),
      message,
    });
  }

  /** Sends a log message to a client that wants its level. */
  log(level: LoggingLevel, data: unknown): void {
    const { logLevel } = this.client;
    if (logLevel === "none" || LOGGING_LEVELS.indexOf(level) < LOGGING_LEVELS.indexOf(logLevel))
      return;
    this.notify("notifications/message", { level, data });
  }
}

/** A response as JSON text. `JsonText` is spliced in as structured content. */
function responseText(id: RequestId, result: object): string {
  if (!("structuredContent" in result && result.structuredContent instanceof JsonText))
    return JSON.stringify({ jsonrpc: "2.0", id, result });
  const { structuredContent, ...rest } = result;
  const text = JSON.stringify({ jsonrpc: "2.0", id, result: rest });
  return `${text.slice(0, -2)},"structuredContent":${structuredContent.text}}}`;
}

/**
 * `version-traceid-parentid-flags`; all zeros are invalid (W3C Trace Context, section 3.2). A request's work runs in the
 * trace that its `_meta.traceparent` names (MCP, OpenTelemetry conventions), so that log lines identify the request.
 */
const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/;

export function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
