import { JsonText } from "@refmcp/boundary/answer";
import { LOGGING_LEVELS, type LoggingLevel } from "../define/content.ts";
import { withTrace } from "../log.ts";
import { errorText, internalError, METHOD_NOT_FOUND, ProtocolError, protocolError } from "./errors.ts";
import type { Load } from "./load.ts";
import { asUri } from "./messages.ts";
import type { Revision } from "./revisions.ts";
import { type Handler, LATER, type Service } from "./service.ts";
import {
  type ClientCapabilities,
  META,
  type Params,
  type RequestId,
  type RequestMessage,
  type RpcError,
} from "./wire.ts";

/** Sends messages to a client, for one request or for none. */
export interface Outlet {
  /** Sends the one answer to a request; undefined if it gets none because it was cancelled. */
  answer(json: string | undefined, error?: RpcError): void;
  notify(method: string, params: object): void;
  /** Sends a request from the server. */
  ask(json: string): void;
}

/** An outlet that passes every message to `write`. */
export function outletTo(write: (json: string) => void): Outlet {
  return {
    answer(json) {
      if (json !== undefined) write(json);
    },
    notify: (method, params) => write(JSON.stringify({ jsonrpc: "2.0", method, params })),
    ask: write,
  };
}

/** The authenticated caller of a request. */
export interface Principal {
  /** Different for callers that must not see each other's sessions and answers. */
  readonly key: string;
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
  /** Sends a request to the client; only in the legacy era. */
  ask?(method: string, params: object | undefined, limit: AskLimit): Promise<unknown>;
}

export interface AskLimit {
  /** Time limit for the answer, in milliseconds. */
  readonly timeoutMs: number;
  /** The request that the question belongs to; when it ends, the question is cancelled. */
  readonly request?: ClientRequest;
}

/**
 * How long clients may keep a result (MCP 2026-07-28, "Caching"), in milliseconds. Lists do not change within a
 * process.
 */
const TTL_MS: Readonly<Record<string, number>> = {
  "tools/list": 600_000,
  "prompts/list": 600_000,
  "server/discover": 600_000,
  "skills/list": 600_000,
  "skills/get": 600_000,
  "resources/list": 0,
  "resources/templates/list": 0,
  "resources/read": 0,
};

interface RequestParts {
  readonly revision: Revision;
  readonly client: Client;
  readonly outlet: Outlet;
  readonly service: Service;
  /** Counts the request until it is over and its handlers have settled. */
  readonly load: Load;
  /** The size of its message. */
  readonly bytes: number;
  /** Called once, before the answer is sent. */
  readonly settled: (request: ClientRequest) => void;
}

/** One request of a client, from its check to its one answer. */
export class ClientRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
  readonly revision: Revision;
  readonly client: Client;
  readonly outlet: Outlet;
  readonly #parts: RequestParts;
  /** Whether it is answered or cancelled; nothing more is sent for it. */
  isOver = false;
  #isAborted = false;
  /** Handlers that have not settled; they may outlive the request if they ignore the signal. */
  #running = 0;
  #whenAborted: (() => void)[] | undefined;
  #progress = Number.NEGATIVE_INFINITY;

  constructor({ id, method, params = {} }: RequestMessage, parts: RequestParts) {
    this.id = id;
    this.method = method;
    this.params = params;
    this.revision = parts.revision;
    this.client = parts.client;
    this.outlet = parts.outlet;
    this.#parts = parts;
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
    const { load, bytes } = this.#parts;
    if (!this.isSubscription) load.requests += one;
    load.bytes += one * bytes;
  }

  /**
   * Runs the handler, which may be undefined, and answers through `outlet`, now or later. The parameters are already
   * checked.
   */
  run(handler: Handler | undefined): void {
    if (handler === undefined) this.fail(new ProtocolError(METHOD_NOT_FOUND));
    else withTrace(this.params, () => this.#handle(handler));
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
    let json: string;
    try {
      json = responseText(this.id, this.#dressed(result));
    } catch (error) {
      // For example a value that is nested too deeply, a BigInt or a cycle.
      this.#parts.service.log.debug(`${this.method}: ${String(error)}`);
      this.fail(new ProtocolError(internalError("The result cannot be serialized as JSON.")));
      return;
    }
    this.#finish(json);
  }

  /** A result in the form of this revision. */
  #dressed(result: object): object {
    if (this.revision.era === "legacy") return result;
    const { identity, icons } = this.#parts.service;
    const meta = "_meta" in result ? Object(result._meta) : undefined;
    const ttlMs = Object.hasOwn(TTL_MS, this.method) ? TTL_MS[this.method] : undefined;
    return {
      resultType: "complete",
      ...(ttlMs === undefined || "resultType" in result ? {} : { ttlMs, cacheScope: "private" }),
      ...result,
      // Every answer names the server; its icon is sent only with discovery.
      _meta: {
        ...meta,
        [META.serverInfo]: this.method === "server/discover" ? { ...identity, icons } : identity,
      },
    };
  }

  readonly fail = (error: unknown): void => {
    if (this.isOver) return;
    const { uri } = this.params;
    const named = typeof uri === "string" ? asUri(uri) : undefined;
    const rpc = protocolError(error, this.method, this.#parts.service.log, named).toRpc();
    this.#finish(errorText(this.id, rpc, this.revision), rpc);
  };

  /** Ends it without an answer, because the client cancelled it. */
  cancel(): void {
    if (this.isOver) return;
    this.#finish(undefined);
    this.#abort();
  }

  /** Ends it with an error before its work is done. */
  abort(error: RpcError): void {
    if (this.isOver) return;
    this.fail(new ProtocolError(error));
    this.#abort();
  }

  #abort(): void {
    this.#isAborted = true;
    for (const listener of this.#whenAborted ?? []) listener();
  }

  #finish(json: string | undefined, error?: RpcError): void {
    this.isOver = true;
    this.#parts.settled(this);
    if (this.#running === 0) this.#count(-1);
    this.outlet.answer(json, error);
  }

  /** Called when a handler starts to run for it, and when it has settled. */
  handlerBegan(): void {
    this.#running += 1;
  }

  handlerSettled(): void {
    this.#running -= 1;
    if (this.isOver && this.#running === 0) this.#count(-1);
  }

  /** Calls `listener` when it is cancelled or aborted; not when it is answered. */
  whenAborted(listener: () => void): void {
    this.#whenAborted ??= [];
    if (this.#isAborted) listener();
    else this.#whenAborted.push(listener);
  }

  notify(method: string, params: object): void {
    if (!this.isOver) this.outlet.notify(method, params);
  }

  /** Reports progress to a client that requested it. It must increase (MCP, "Progress"), also across repeated runs. */
  reportProgress(progress: number, total: number | undefined, message: string | undefined): boolean {
    const progressToken = this.params._meta?.progressToken;
    if (progressToken === undefined || !Number.isFinite(progress) || progress <= this.#progress) return false;
    this.#progress = progress;
    this.notify("notifications/progress", {
      progressToken,
      progress,
      ...(total === undefined || !Number.isFinite(total) ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
    return true;
  }

  /** Whether the client requested progress for this request. */
  get wantsProgress(): boolean {
    return this.params._meta?.progressToken !== undefined;
  }

  /** Sends a log message if the client wants that level. */
  log(level: LoggingLevel, data: unknown): void {
    const { logLevel } = this.client;
    if (logLevel === "none" || LOGGING_LEVELS.indexOf(level) < LOGGING_LEVELS.indexOf(logLevel)) return;
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

/** A promise, or any other thenable. */
export function isThenable<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** The client of a modern request, from its envelope, which is already checked. */
export function clientOf(message: RequestMessage, principal: Principal | undefined): Client {
  const meta: Readonly<Record<string, unknown>> = message.params?._meta ?? {};
  const level = LOGGING_LEVELS.find((one) => one === meta[META.logLevel]);
  return { capabilities: Object(meta[META.capabilities]), logLevel: level ?? "none", principal };
}

/**
 * The answer to a JSON-RPC batch (MCP 2025-03-26, "Batching"): one array in the order of the requests, sent once every
 * entry is settled. Notifications, responses and cancelled requests have no entry; an empty answer is not sent.
 */
export class Batch {
  readonly #answers: (string | undefined)[];
  readonly #outlet: Outlet;
  #open: number;

  /** @param size how many entries the batch has; each is answered once. */
  constructor(size: number, outlet: Outlet) {
    this.#answers = new Array<string | undefined>(size).fill(undefined);
    this.#open = size;
    this.#outlet = outlet;
  }

  /** The outlet of one entry, whose answer waits for the others. */
  slot(index: number): Outlet {
    return {
      answer: (json) => this.#settle(index, json),
      notify: (method, params) => this.#outlet.notify(method, params),
      ask: (json) => this.#outlet.ask(json),
    };
  }

  #settle(index: number, answer: string | undefined): void {
    this.#answers[index] = answer;
    this.#open -= 1;
    if (this.#open > 0) {
      this.#outlet.answer(undefined);
      return;
    }
    const entries = this.#answers.filter((entry) => entry !== undefined);
    this.#outlet.answer(entries.length === 0 ? undefined : `[${entries.join(",")}]`);
  }
}
