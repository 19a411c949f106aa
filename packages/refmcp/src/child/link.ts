import { ToolError } from "@refmcp/boundary/answer";
import { internalError, ProtocolError } from "@refmcp/core/internal/protocol/errors";
import type { Client, ClientRequest } from "@refmcp/core/internal/protocol/request";
import { TASKS_EXTENSION } from "@refmcp/core/internal/protocol/tasks";
import {
  type Era,
  META,
  type Message,
  type NotificationMessage,
  type Params,
  type RequestMessage,
  type RpcError,
} from "@refmcp/core/internal/protocol/wire";
import { ServerProcess, type Start } from "./process.ts";

/** What a server reports without being asked. */
export interface LinkEvents {
  changed(uri: string): void;
  resourcesChanged(): void;
  /** Its process is gone; the next call needs a new link. */
  ended(link: Link): void;
}

interface Waiting {
  readonly request: ClientRequest;
  resolve(result: object): void;
  reject(error: Error): void;
}

/** A question of the server that the client has not answered yet. */
interface Question {
  isOver: boolean;
  readonly listeners: (() => void)[];
}

/** The server limits the time of its questions; a timer takes no more than this. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * The connection to one server's process. Requests are sent in the era and the revision of the client that they come
 * from, so that results pass through unchanged.
 */
export class Link {
  readonly era: Era;
  readonly #name: string;
  readonly #process: ServerProcess;
  readonly #events: LinkEvents;
  readonly #client: Client;
  readonly #waiting = new Map<number, Waiting>();
  readonly #questions = new Map<unknown, Question>();
  /** Subscriptions: URI → the id of the stream (2026-07-28), or undefined. */
  readonly #watched = new Map<string, number | undefined>();
  readonly #acknowledged = new Map<number, (uris: readonly string[]) => void>();
  /** Lines that wait for the handshake; undefined after it. */
  #held: string[] | undefined;
  #next = 1;

  /** @param first the request that the server is started for */
  constructor(name: string, start: Start, first: ClientRequest, events: LinkEvents) {
    this.#name = name;
    this.#events = events;
    this.#client = first.client;
    this.era = first.revision.era;
    this.#process = new ServerProcess(start, this.#take, this.#ended);
    if (this.era === "legacy") this.#shakeHands(first);
  }

  /** The id of the server's process. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  #shakeHands(first: ClientRequest): void {
    this.#held = [];
    const id = this.#next++;
    const opened = () => {
      const held = this.#held ?? [];
      this.#held = undefined;
      this.#process.write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
      for (const line of held) this.#process.write(line);
    };
    const reject = (error: Error) => {
      for (const [other, waiting] of this.#waiting) {
        this.#waiting.delete(other);
        waiting.reject(error);
      }
    };
    this.#waiting.set(id, { request: first, resolve: opened, reject });
    const params = {
      protocolVersion: first.revision.version,
      capabilities: first.client.capabilities ?? {},
      clientInfo: { name: "refmcp", version: "1" },
    };
    this.#process.write(JSON.stringify({ jsonrpc: "2.0", id, method: "initialize", params }));
  }

  /**
   * Sends a request of the client to the server.
   *
   * @param params replaces the request's parameters
   * @returns the server's result, unchanged
   * @throws ProtocolError with the server's error; ToolError `unavailable` if its process is gone.
   */
  send(request: ClientRequest, method = request.method, params = request.params): Promise<object> {
    const id = this.#next++;
    const line = JSON.stringify({
      jsonrpc: "2.0",
      id,
      method,
      params: sentParams(request, params, id),
    });
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { request, resolve, reject });
      request.whenAborted(() => {
        if (!this.#waiting.delete(id)) return;
        this.#notify("notifications/cancelled", { requestId: id });
        reject(new ProtocolError(internalError("The request was cancelled.")));
      });
      this.#write(line);
    });
  }

  /** Subscribes to a resource; resolves when changes are reported, with false if the server does not watch it. */
  async watch(uri: string, request: ClientRequest, given: Params): Promise<boolean> {
    if (this.era === "legacy") {
      await this.send(request, "resources/subscribe", { uri });
      this.#watched.set(uri, undefined);
      return true;
    }
    const id = this.#next++;
    const params = { ...given, notifications: { resourceSubscriptions: [uri] } };
    const sent = sentParams(request, params, id);
    const granted = await new Promise<readonly string[]>((resolve, reject) => {
      this.#acknowledged.set(id, resolve);
      // Its result ends the stream, and comes first only if nothing was granted.
      this.#waiting.set(id, { request, resolve: () => resolve([]), reject });
      this.#write(
        JSON.stringify({ jsonrpc: "2.0", id, method: "subscriptions/listen", params: sent }),
      );
    });
    this.#acknowledged.delete(id);
    if (granted.length > 0) this.#watched.set(uri, id);
    return granted.length > 0;
  }

  /** Ends a subscription. */
  unwatch(uri: string): void {
    const stream = this.#watched.get(uri);
    if (!this.#watched.delete(uri)) return;
    if (stream === undefined) {
      const request = {
        jsonrpc: "2.0",
        id: this.#next++,
        method: "resources/unsubscribe",
        params: { uri },
      };
      this.#write(JSON.stringify(request));
    } else {
      this.#waiting.delete(stream);
      this.#notify("notifications/cancelled", { requestId: stream });
    }
  }

  /** Passes on that the client's roots have changed. */
  rootsChanged(): void {
    if (this.era === "legacy") this.#notify("notifications/roots/list_changed", {});
  }

  /** Ends the server. */
  stop(): Promise<void> {
    return this.#process.stop();
  }

  #write(line: string): void {
    if (this.#held === undefined) this.#process.write(line);
    else this.#held.push(line);
  }

  #notify(method: string, params: object): void {
    this.#write(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  readonly #take = (line: string): void => {
    const message = messageOf(line);
    if (message === undefined) return;
    if (!("method" in message)) this.#answered(message);
    else if ("id" in message) void this.#ask(message);
    else this.#notified(message);
  };

  #answered(message: Exclude<Message, { method: string }>): void {
    const id = Number(message.id);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting === undefined) return;
    if ("result" in message) waiting.resolve(message.result);
    else waiting.reject(new ProtocolError(message.error));
  }

  /** Asks the client what the server asks, and passes on the answer. */
  async #ask({ id, method, params }: RequestMessage): Promise<void> {
    const question: Question = { isOver: false, listeners: [] };
    this.#questions.set(id, question);
    try {
      const asked = this.#client.ask?.(method, params, {
        timeoutMs: NO_LIMIT_MS,
        request: {
          get isOver() {
            return question.isOver;
          },
          whenAborted: (listener) => void question.listeners.push(listener),
        },
      });
      const result = (await asked) ?? {};
      this.#write(JSON.stringify({ jsonrpc: "2.0", id, result }));
    } catch (thrown) {
      const error: RpcError =
        thrown instanceof ProtocolError ? thrown.rpc : internalError(String(thrown));
      this.#write(JSON.stringify({ jsonrpc: "2.0", id, error }));
    } finally {
      this.#questions.delete(id);
    }
  }

  #notified({ method, params = {} }: NotificationMessage): void {
    switch (method) {
      case "notifications/progress": {
        const { progressToken, progress, total, message }: Params = params;
        const request = this.#waiting.get(Number(progressToken))?.request;
        const of = typeof total === "number" ? total : undefined;
        request?.reportProgress(
          Number(progress),
          of,
          typeof message === "string" ? message : undefined,
        );
        return;
      }
      case "notifications/cancelled": {
        const question = this.#questions.get(params.requestId);
        if (question === undefined) return;
        question.isOver = true;
        for (const listener of question.listeners) listener();
        return;
      }
      case "notifications/resources/updated":
        this.#events.changed(String(params.uri));
        return;
      case "notifications/resources/list_changed":
        this.#events.resourcesChanged();
        return;
      case "notifications/subscriptions/acknowledged": {
        const granted: unknown = Object(params.notifications).resourceSubscriptions;
        this.#acknowledged.get(Number(params._meta?.[META.subscriptionId]))?.(
          Array.isArray(granted) ? granted : [],
        );
        return;
      }
      default:
        // For example a log message. All requests come from the same client.
        [...this.#waiting.values()].at(-1)?.request.notify(method, params);
    }
  }

  readonly #ended = (why: string): void => {
    const error = new ToolError("unavailable", `The ${this.#name} server ${why}`, {
      hint: "The next call starts it again.",
    });
    for (const { listeners } of this.#questions.values())
      for (const listener of listeners) listener();
    this.#events.ended(this);
    for (const waiting of [...this.#waiting.values()]) waiting.reject(error);
    this.#waiting.clear();
  };
}

/** A message of a server; undefined for a line that is not JSON, which a library may have printed. */
function messageOf(line: string): Message | undefined {
  try {
    return Object(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/**
 * The parameters of a request as the server gets them: with this link's progress token. Tasks end here, because a
 * client's task may outlive the server's process.
 */
function sentParams(request: ClientRequest, { task: _, ...params }: Params, id: number): Params {
  const meta = params._meta;
  const isModern = request.revision.era === "modern";
  const reports = request.wantsProgress || request.isTask;
  const capabilities = isModern ? withoutTasks(meta?.[META.capabilities]) : undefined;
  if (!reports && capabilities === undefined) return params;
  return {
    ...params,
    _meta: {
      ...meta,
      ...(capabilities === undefined ? {} : { [META.capabilities]: capabilities }),
      ...(reports || capabilities !== undefined ? { progressToken: id } : {}),
    },
  };
}

/** Capabilities without tasks; undefined if there is nothing to leave out. */
function withoutTasks(capabilities: unknown): object | undefined {
  const declared: { readonly extensions?: Readonly<Record<string, object>> } = Object(capabilities);
  if (declared.extensions?.[TASKS_EXTENSION] === undefined) return undefined;
  const { [TASKS_EXTENSION]: _, ...extensions } = declared.extensions;
  return { ...declared, extensions };
}
