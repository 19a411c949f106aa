import { channel } from "node:diagnostics_channel";
import { JsonText } from "@refmcp/boundary/answer";
import { type Icon, LOGGING_LEVELS, type LoggingLevel } from "../define/content.ts";
import type { Effect } from "../define/effect.ts";
import type { Unwatch } from "../define/resource.ts";
import type { Awaitable } from "../define/tool.ts";
import { type Log, trace } from "../log.ts";
import {
  errorText,
  internalError,
  METHOD_NOT_FOUND,
  ProtocolError,
  protocolError,
} from "./errors.ts";
import { type Load, Rates } from "./load.ts";
import { asUri } from "./messages.ts";
import type { Revision } from "./revisions.ts";
import type { Tasks } from "./tasks.ts";
import {
  type ClientCapabilities,
  type Era,
  type Implementation,
  META,
  type Params,
  type RequestId,
  type RequestMessage,
  type RpcError,
  type ServerCapabilities,
} from "./wire.ts";

/** Where the messages to a client go, for one request or for none. */
export interface Sink {
  /** Takes the one answer to a request; undefined if it gets none because it was cancelled. */
  answer(json: string | undefined, error?: RpcError): void;
  notify(method: string, params: object): void;
  ask(json: string): void;
}

export function sinkTo(write: (json: string) => void): Sink {
  return {
    answer(json) {
      if (json !== undefined) write(json);
    },
    notify: (method, params) => write(JSON.stringify({ jsonrpc: "2.0", method, params })),
    ask: write,
  };
}

export interface Principal {
  /** Different for callers that must not see each other's sessions and answers. */
  readonly key: string;
  /** Whose share of the process it uses: the subject of a token, whatever token and client. */
  readonly owner: string;
  /** The scopes that its token has, if tools need some; undefined if all tools are allowed. */
  readonly scopes?: readonly string[] | undefined;
  /** When its access expires, in milliseconds of `Date.now()`; undefined for never. */
  readonly expiresAt?: number;
}

/** The client that sent a request: a connection of the legacy era, or the description in a modern request. */
export interface Client {
  /** Its declared capabilities; undefined if it declared none. */
  readonly capabilities: ClientCapabilities | undefined;
  /** The lowest log level that it wants; `none` for no messages. */
  readonly logLevel: LoggingLevel | "none";
  readonly principal: Principal | undefined;
  /** Sends a request to the client, and resolves with its result; only in the legacy era. */
  ask?(method: string, params: object | undefined, limit: AskLimit): Promise<unknown>;
}

export interface AskLimit {
  readonly timeoutMs: number;
  /** The request that the question belongs to; when it ends, the question is cancelled. */
  readonly request?: Pick<ClientRequest, "isOver" | "whenAborted"> & { readonly sink?: Sink };
}

/** The work of a call that its client follows as a task: takes its answer, its progress and its questions. */
export interface TaskWork extends Sink {
  /** Collects the client's answers, then repeats the call with them. */
  needsInput(result: object): void;
  progressed(message: string): void;
  /** Called when the client has answered all questions. */
  inputReceived(): void;
}

/** Returned by a handler that answers the request itself, later. */
export const LATER = Symbol("answered later");

/** Handles one request: returns its result, or rejects with the error. */
export type Handler = (request: ClientRequest) => Awaitable<object | typeof LATER>;

export interface Listener {
  changed(uri: string): void;
  resourcesChanged(): void;
}

/** The channel of `node:diagnostics_channel` that is told of every tool call that is over. */
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

export interface KnownTool {
  readonly name: string;
  readonly effect: Effect;
}

/** What the engine serves: created from a definition by `bind`, and shared by all connections of a process. */
export interface Service {
  readonly identity: Implementation;
  /** Its icons, which are sent when a connection is opened. */
  readonly icons: Icon[];
  readonly instructions: string;
  readonly log: Log;
  /** @param declared the client's capabilities, if known. */
  capabilities(era: Era, declared?: ClientCapabilities): ServerCapabilities;
  /** The methods of both eras: tools, resources, prompts, completion. */
  readonly methods: ReadonlyMap<string, Handler>;
  /** Checks that calls can be served now. @throws the reason why not. */
  ready(signal: AbortSignal): Promise<void>;
  /** Starts watching a resource for a request; undefined if it cannot be watched. */
  watch(uri: string, changed: () => void, request: ClientRequest): Awaitable<Unwatch | undefined>;
  /** Adds a listener; returns the function that removes it. */
  listen(listener: Listener): () => void;
  /** A tool by any of its names. */
  tool(name: string): KnownTool | undefined;
  /** The OAuth scope for calling tools with this effect: `git:read`. */
  scopeFor(effect: Effect): string;
  readonly tasks: Tasks;
  /** Handles a client's notification in the legacy era: `notifications/initialized`, `…/roots/list_changed`. */
  notified?(method: string, client: Client): void;
}

/** Methods that answer the server's data, as its reading tools do. */
const READING: ReadonlySet<string> = new Set([
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "subscriptions/listen",
  "prompts/get",
  "completion/complete",
]);

/** The scope that the caller lacks for a request; undefined if it may be served. */
export function missingScope(
  { tool, scopeFor }: Pick<Service, "tool" | "scopeFor">,
  principal: Principal | undefined,
  { method, params }: RequestMessage,
): string | undefined {
  if (principal?.scopes === undefined) return undefined;
  const effect =
    method === "tools/call"
      ? tool(String(params?.name))?.effect
      : READING.has(method)
        ? "read"
        : undefined;
  const scope = effect === undefined ? undefined : scopeFor(effect);
  return scope === undefined || principal.scopes.includes(scope) ? undefined : scope;
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

/** Limits the progress notifications of a request (MCP, "Progress": SHOULD): a tenth at once, then evenly. */
const REPORTS_PER_MINUTE = 600;

export interface RequestParts {
  readonly revision: Revision;
  readonly client: Client;
  readonly sink: Sink;
  readonly service: Service;
  /** Counts the request until it is over and its handlers have settled. */
  readonly load: Load;
  readonly bytes: number;
  /** Called once, before the answer is sent. */
  readonly settled: () => void;
}

/** One request of a client, from its check to its one answer. */
export class ClientRequest {
  readonly id: RequestId;
  readonly method: string;
  params: Params;
  readonly revision: Revision;
  client: Client;
  sink: Sink;
  readonly #parts: RequestParts;
  #handler: Handler | undefined;
  #task: TaskWork | undefined;
  /** Whether it is answered or cancelled; nothing more is sent for it. */
  isOver = false;
  #isAborted = false;
  /** Bytes of the message that are still counted. */
  #bytes: number;
  /** Handlers that have not settled; they may outlive the request if they ignore the signal. */
  #running = 0;
  #whenAborted: (() => void)[] | undefined;
  #progress = Number.NEGATIVE_INFINITY;
  #reports: Rates | undefined;
  /** In milliseconds of `performance.now()`. */
  readonly #began = performance.now();

  constructor({ id, method, params = {} }: RequestMessage, parts: RequestParts) {
    this.id = id;
    this.method = method;
    this.params = params;
    this.revision = parts.revision;
    this.client = parts.client;
    this.sink = parts.sink;
    this.#parts = parts;
    this.#bytes = parts.bytes;
    this.#count(1);
  }

  /**
   * Whether it stays open until it is cancelled. Such a request counts toward no limit, and shutdown does not wait for
   * it.
   */
  get isSubscription(): boolean {
    return this.method === "subscriptions/listen";
  }

  #count(one: 1 | -1): void {
    const { load } = this.#parts;
    if (!this.isSubscription) load.requests.count(this.owner, one);
    load.bytes.count(one * this.#bytes);
  }

  /** Whose share of the process it uses. */
  get owner(): string {
    return this.client.principal?.owner ?? "";
  }

  /** Drops what only the beginning of a subscription needs; it may stay open for days. */
  dropMessage(): void {
    this.#parts.load.bytes.count(-this.#bytes);
    this.#bytes = 0;
    this.params = {};
    this.client = { ...this.client, capabilities: undefined };
  }

  /** Runs the handler, which may be undefined, and answers now or later. The parameters are already checked. */
  run(handler: Handler | undefined): void {
    this.#handler = handler;
    if (handler === undefined) this.fail(new ProtocolError(METHOD_NOT_FOUND));
    else inTrace(this.params._meta?.[META.traceparent], () => this.#handle(handler));
  }

  /** Whether its client has a task as its answer, and follows that until the work is done. */
  get isTask(): boolean {
    return this.#task !== undefined;
  }

  /** Answers it with a task. Its connection has nothing more to do with it; it still counts until its work is over. */
  becomeTask(task: TaskWork, created: object): void {
    this.#parts.settled();
    const { sink } = this;
    this.#task = task;
    this.sink = task;
    sink.answer(responseText(this.id, this.#inRevision(created)));
  }

  /** Called when the client has answered the questions that it was asked. */
  inputReceived(): void {
    this.#task?.inputReceived();
  }

  /** Runs a task's call again, with what the client answered. */
  repeat(params: object): void {
    this.params = { ...this.params, ...params };
    this.run(this.#handler);
  }

  #handle(handler: Handler): void {
    try {
      const result = handler(this);
      if (isThenable(result)) result.then(this.#succeed, this.fail);
      else this.#succeed(result);
    } catch (error) {
      this.fail(error);
    }
  }

  readonly #succeed = (result: object | typeof LATER): void => {
    if (result !== LATER) this.succeed(result);
  };

  succeed(result: object): void {
    if (this.isOver) return;
    if (this.#task !== undefined && "inputRequests" in result) {
      this.#task.needsInput(result);
      return;
    }
    let json: string;
    try {
      json = responseText(this.id, this.#inRevision(result));
    } catch (error) {
      // For example a value that is nested too deeply, a BigInt or a cycle.
      this.#parts.service.log.debug(`${this.method}: ${String(error)}`);
      this.fail(new ProtocolError(internalError("The result cannot be serialized as JSON.")));
      return;
    }
    this.#finish(json, undefined, "isError" in result && result.isError === true);
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

  readonly fail = (error: unknown): void => {
    if (this.isOver) return;
    const { uri } = this.params;
    const named = typeof uri === "string" ? asUri(uri) : undefined;
    const { rpc } = protocolError(error, this.method, this.#parts.service.log, named);
    this.#finish(errorText(this.id, rpc, this.revision), rpc);
  };

  /** Like `end`, for its connection: a task goes on. */
  abort(error?: RpcError): void {
    if (this.#task === undefined) this.end(error);
  }

  /** Ends it before its work is done: with an error, or without an answer because the client cancelled it. */
  end(error?: RpcError): void {
    if (this.isOver) return;
    if (error === undefined) this.#finish(undefined);
    else this.fail(new ProtocolError(error));
    this.#isAborted = true;
    for (const listener of this.#whenAborted ?? []) listener();
  }

  #finish(json: string | undefined, error?: RpcError, isToolError = false): void {
    this.isOver = true;
    if (calls.hasSubscribers && this.method === "tools/call") {
      const tool = this.#parts.service.tool(String(this.params.name));
      const outcome: CallOutcome = {
        principal: this.client.principal?.key ?? "",
        tool: tool?.name ?? null,
        effect: tool?.effect ?? null,
        ms: Math.round(performance.now() - this.#began),
        answer_characters: json?.length ?? 0,
        outcome:
          json === undefined ? "cancelled" : (error?.code ?? (isToolError ? "tool_error" : "ok")),
      };
      calls.publish(outcome);
    }
    if (this.#task === undefined) this.#parts.settled();
    if (this.#running === 0) this.#count(-1);
    this.sink.answer(json, error);
  }

  /** Called when a handler starts to run for it, and when it has settled. */
  handlerBegan(): void {
    this.#running += 1;
  }

  handlerSettled(): void {
    this.#running -= 1;
    if (this.isOver && this.#running === 0) this.#count(-1);
  }

  /** Calls `listener` when it is aborted; not when it is answered. */
  whenAborted(listener: () => void): void {
    this.#whenAborted ??= [];
    if (this.#isAborted) listener();
    else this.#whenAborted.push(listener);
  }

  notify(method: string, params: object): void {
    if (!this.isOver) this.sink.notify(method, params);
  }

  /** Whether the client requested progress for this request. */
  get wantsProgress(): boolean {
    return this.params._meta?.progressToken !== undefined;
  }

  /** Reports progress to a client that requested it. It must increase (MCP, "Progress"), also across repeated runs. */
  reportProgress(progress: number, total: number | undefined, message: string | undefined): void {
    const isWanted = this.wantsProgress || this.#task !== undefined;
    if (!isWanted || !Number.isFinite(progress) || progress <= this.#progress) return;
    this.#progress = progress;
    if (this.#task !== undefined) {
      const share = Number.isFinite(total) ? `${progress} of ${total}` : String(progress);
      this.#task.progressed(message ?? share);
      return;
    }
    // The last report is always sent.
    this.#reports ??= new Rates(REPORTS_PER_MINUTE);
    if (progress !== total && this.#reports.retryAfter("") > 0) return;
    this.notify("notifications/progress", {
      progressToken: this.params._meta?.progressToken,
      progress,
      ...(Number.isFinite(total) ? { total } : {}),
      message,
    });
  }

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

/** `version-traceid-parentid-flags`; all zeros are invalid (W3C Trace Context, section 3.2). */
const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/;

/**
 * Runs a request's work in the trace that its `_meta.traceparent` names (MCP, OpenTelemetry conventions), so that log
 * lines identify the request. Without a valid one it runs outside any trace, even if the caller is in one. The first
 * trace makes every promise of the process more expensive (Node.js 20), so without traces no context is entered.
 */
function inTrace(traceparent: unknown, work: () => void): void {
  const found = typeof traceparent === "string" ? TRACEPARENT.exec(traceparent) : null;
  if (found !== null) trace.run(`trace_id=${found[1]} span_id=${found[2]}`, work);
  else if (trace.getStore() === undefined) work();
  else trace.exit(work);
}

export function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
