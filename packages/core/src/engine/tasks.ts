import { crypto } from "@refmcp/boundary/crypto";
import type { Client, Send } from "./caller.ts";
import { internalError, invalidParams, ProtocolError } from "./errors.ts";
import { Limit } from "./load.ts";
import { show } from "./message.ts";
import type { ClientRequest, Handler, TaskWork } from "./request.ts";
import { CODES, type Era, META, type RpcError } from "./wire.ts";

/** Tasks of 2026-07-28 (SEP-2663). Those of 2025-11-25 are a part of that revision. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

interface TaskOptions {
  /** After how many milliseconds a call becomes a task. */
  readonly afterMs: number;
  /** How long a task may run, in milliseconds. */
  readonly limitMs: number;
}

/** How many tasks, and characters of results, a process keeps. */
const MAX_TASKS = 2_000;
const MAX_CHARACTERS = 64 * 1_048_576;
/** How long a finished task is kept, in milliseconds. */
const KEEP_MS = 15 * 60_000;
/** How often clients should ask for a task's state, and the time between two reports of its progress. */
const POLL_MS = 1_000;
/** How long a person may take to answer a task's questions, in milliseconds. */
const ANSWER_MS = 10 * 60_000;

/** A task's state. Times are in milliseconds of `Date.now()`. */
interface TaskState {
  readonly status: "working" | "input_required" | "completed" | "cancelled" | "failed";
  readonly statusMessage?: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How long it is kept, from its creation. */
  readonly ttlMs: number;
  readonly inputRequests?: Readonly<Record<string, object>> | undefined;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly error?: RpcError | undefined;
}

/** A call that goes on after it was answered with a task: a request whose `send` is that of the task. */
class Task implements TaskWork {
  readonly id = crypto().randomUUID();
  /** The key of its caller; for others it does not exist. */
  readonly owner: string;
  /** The OAuth scope that its tool needs. */
  readonly scope: string;
  state: TaskState;
  /** Of its result. */
  characters = 0;
  readonly #request: ClientRequest;
  readonly #changed: (task: Task) => void;
  #rounds = 0;
  /** The open questions: the keys that the client sees, each once in a task's life, and those of the call. */
  readonly #open = new Map<string, string>();
  #answers: Record<string, unknown> = {};
  #requestState: unknown;
  #late: NodeJS.Timeout | undefined;
  /** Questions of 2025-11-25 that wait for a request for the result, and what sends them. */
  #questions: string[] = [];
  #ask: Send | undefined;

  constructor(
    request: ClientRequest,
    scope: string,
    limitMs: number,
    changed: (task: Task) => void,
  ) {
    const now = Date.now();
    this.owner = request.client.principal?.key ?? "";
    this.scope = scope;
    this.state = { status: "working", createdAt: now, updatedAt: now, ttlMs: limitMs + KEEP_MS };
    this.#request = request;
    this.#changed = changed;
  }

  get isFinished(): boolean {
    return this.state.status !== "working" && this.state.status !== "input_required";
  }

  /** Takes what its request sends. Notifications do not reach a client that follows a task. */
  readonly send: Send = (json, kind) => {
    if (kind === "question" && json !== undefined) this.#questionAsked(json);
    if (kind !== "answer") return;
    const answer: { result?: Record<string, unknown>; error?: RpcError } = JSON.parse(json ?? "{}");
    if (answer.result?.resultType === "input_required") {
      this.#inputRequired(answer.result);
      return;
    }
    // It may be large, and the task is kept for a while.
    this.#request.params = {};
    this.characters = json?.length ?? 0;
    if (json === undefined) this.#change({ status: "cancelled" });
    else if (answer.error === undefined)
      this.#change({ status: "completed", result: answer.result });
    else
      this.#change({
        status: "failed",
        error: answer.error,
        statusMessage: answer.error.message,
      });
  };

  progressed(message: string): void {
    if (Date.now() - this.state.updatedAt >= POLL_MS) this.#change({ statusMessage: message });
  }

  /** Ends its call: with an error, or as cancelled. */
  end(error?: RpcError): void {
    if (!this.#request.isOver) this.#request.abort(error);
    else if (error === undefined) this.send(undefined, "answer");
    else this.send(JSON.stringify({ error }), "answer");
  }

  /** The client must answer questions before the call runs again. */
  #inputRequired({ inputRequests, requestState }: Readonly<Record<string, unknown>>): void {
    this.#rounds += 1;
    this.#answers = {};
    this.#requestState = requestState;
    const shown = Object.entries<object>(Object(inputRequests)).map(([key, question]) => {
      const seen = `${this.#rounds}-${key}`;
      this.#open.set(seen, key);
      return [seen, question] as const;
    });
    this.#change({ status: "input_required", inputRequests: Object.fromEntries(shown) });
    const late = internalError(`The client did not answer within ${ANSWER_MS / 60_000} minutes.`);
    this.#late = setTimeout(() => this.end(late), ANSWER_MS);
  }

  /** Takes the client's answers (`tasks/update`). With the last one, the call runs again. */
  update(responses: Readonly<Record<string, unknown>>): void {
    const answered = Object.entries(responses).filter(([seen]) => this.#open.has(seen));
    if (answered.length === 0 || this.isFinished) return;
    for (const [seen, answer] of answered) {
      this.#answers[this.#open.get(seen) ?? ""] = answer;
      this.#open.delete(seen);
    }
    if (this.#open.size > 0) {
      const left = Object.entries(this.state.inputRequests ?? {}).filter(([seen]) =>
        this.#open.has(seen),
      );
      this.#change({ inputRequests: Object.fromEntries(left) });
      return;
    }
    this.inputReceived();
    this.#request.repeat({ inputResponses: this.#answers, requestState: this.#requestState });
  }

  /** Called when the client has answered all questions. */
  inputReceived(): void {
    clearTimeout(this.#late);
    this.#change({ status: "working", inputRequests: undefined });
  }

  /** A question of 2025-11-25 waits until the client asks for the result. */
  #questionAsked(json: string): void {
    const message: { params?: { _meta?: object } } = JSON.parse(json);
    const _meta = { ...message.params?._meta, [META.relatedTask]: { taskId: this.id } };
    this.#questions.push(JSON.stringify({ ...message, params: { ...message.params, _meta } }));
    this.#change({ status: "input_required" });
    this.#passOn();
  }

  /** Sends the questions of 2025-11-25 with `send`; returns the function that ends this. */
  attach(send: Send): () => void {
    this.#ask = send;
    this.#passOn();
    return () => {
      if (this.#ask === send) this.#ask = undefined;
    };
  }

  #passOn(): void {
    if (this.#ask !== undefined)
      for (const question of this.#questions.splice(0)) this.#ask(question, "question");
  }

  #change(change: Partial<TaskState>): void {
    if (this.isFinished) return;
    const now = Date.now();
    this.state = { ...this.state, ...change, updatedAt: now };
    if (this.isFinished) {
      clearTimeout(this.#late);
      // From here on, the time to live is that of the result.
      const ttlMs = now - this.state.createdAt + KEEP_MS;
      this.state = { ...this.state, inputRequests: undefined, ttlMs };
    }
    this.#changed(this);
  }

  /** As clients see it, without its outcome. */
  shown(era: Era): object {
    const { status, statusMessage, createdAt, updatedAt, ttlMs } = this.state;
    return {
      taskId: this.id,
      status,
      ...(statusMessage === undefined ? {} : { statusMessage }),
      createdAt: new Date(createdAt).toISOString(),
      lastUpdatedAt: new Date(updatedAt).toISOString(),
      ...(era === "legacy"
        ? { ttl: ttlMs, pollInterval: POLL_MS }
        : { ttlMs, pollIntervalMs: POLL_MS }),
    };
  }

  detailed(): object {
    const { inputRequests, result, error } = this.state;
    return {
      ...this.shown("modern"),
      ...(inputRequests === undefined ? {} : { inputRequests }),
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
    };
  }
}

/** The tasks of a process, until they expire. */
export class Tasks {
  readonly #options: TaskOptions;
  readonly #tasks = new Map<string, Task>();
  /** Called when a task changes: for streams that listen to it, and requests that wait for its result. */
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #characters = new Limit(MAX_CHARACTERS);

  constructor(options: TaskOptions) {
    this.#options = options;
  }

  /** Whether a call's client can follow a task. In 2025-11-25 it asks for one in the call. */
  isFor({ client, params, revision }: ClientRequest): boolean {
    return revision.era === "modern"
      ? client.capabilities?.extensions?.[TASKS_EXTENSION] !== undefined
      : revision.taskParameter && client.ask !== undefined && params.task !== undefined;
  }

  /**
   * Runs a call of a client that can follow a task. It becomes one at once if the client asked for that (2025-11-25),
   * and otherwise when it takes long; questions before that are asked without a task.
   *
   * @param scope the OAuth scope that the call's tool needs.
   * @throws ProtocolError -32603 if the client asked for a task, but too many are kept.
   */
  async run<Result>(
    request: ClientRequest,
    scope: string,
    call: () => Promise<Result>,
  ): Promise<Result> {
    if (request.revision.era === "legacy") {
      if (this.#begin(request, scope)) return call();
      throw new ProtocolError(
        internalError("Too many tasks are kept. Retry later, or make the call without a task."),
      );
    }
    const timer = setTimeout(() => {
      if (!request.isOver) this.#begin(request, scope);
    }, this.#options.afterMs);
    return call().finally(() => clearTimeout(timer));
  }

  /** Makes a call a task. @returns whether it was possible. */
  #begin(request: ClientRequest, scope: string): boolean {
    if (this.#tasks.size >= MAX_TASKS) return false;
    const { era } = request.revision;
    const task = new Task(request, scope, this.#options.limitMs, this.#changed);
    this.#tasks.set(task.id, task);
    const shown = task.shown(era);
    request.becomeTask(task, era === "legacy" ? { task: shown } : { ...shown, resultType: "task" });
    return true;
  }

  readonly #changed = (task: Task): void => {
    if (task.isFinished) {
      this.#characters.count(task.characters);
      this.#makeRoom(task.id);
      setTimeout(() => this.#forget(task.id), KEEP_MS).unref();
    }
    for (const changed of [...(this.#watchers.get(task.id) ?? [])]) changed();
  };

  /** Drops the oldest results, but the newest, while all together are too large to be kept. */
  #makeRoom(newest: string): void {
    for (const [id, task] of this.#tasks) {
      if (this.#characters.hasRoom(0)) return;
      if (id !== newest && task.isFinished) this.#forget(id);
    }
  }

  #forget(id: string): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    this.#tasks.delete(id);
    this.#characters.count(-task.characters);
  }

  /** `tasks/get`, in both eras. */
  readonly get: Handler = (request) => {
    const task = this.#find(request);
    return request.revision.era === "modern" ? task.detailed() : task.shown("legacy");
  };

  /** `tasks/update`, of 2026-07-28. */
  readonly update: Handler = (request) => {
    this.#find(request).update(Object(request.params.inputResponses));
    return {};
  };

  /** `tasks/cancel`, in both eras. */
  readonly cancel: Handler = (request) => {
    const task = this.#find(request);
    const isLegacy = request.revision.era === "legacy";
    if (isLegacy && task.isFinished)
      throw new ProtocolError(
        invalidParams(`The task is already ${task.state.status}; it cannot be cancelled.`),
      );
    task.end();
    return isLegacy ? task.shown("legacy") : {};
  };

  /**
   * `tasks/result`, of 2025-11-25: waits until a task is finished, and returns or throws what the call would have. Until
   * then, it passes on questions.
   */
  readonly result: Handler = async (request) => {
    const task = this.#find(request);
    const detach = task.attach((json, kind) => request.send(json, kind));
    try {
      while (!task.isFinished && !request.isOver)
        await new Promise<void>((changed) => {
          const end = this.#watch(task.id, () => {
            end();
            changed();
          });
          request.whenAborted(() => {
            end();
            changed();
          });
        });
    } finally {
      detach();
    }
    const { status, result, error } = task.state;
    if (error !== undefined) throw new ProtocolError(error);
    if (result === undefined) throw new ProtocolError(internalError(`The task is ${status}.`));
    const _meta = { ...Object(result._meta), [META.relatedTask]: { taskId: task.id } };
    return { ...result, _meta };
  };

  /** Those of some ids that exist for the client of a request. */
  known({ client }: ClientRequest, ids: readonly string[]): string[] {
    return [...new Set(ids)].filter((id) => this.#lookUp(client, id) !== undefined);
  }

  /** Sends the state of a client's task, now and whenever it changes; returns the function that ends this. */
  follow({ client }: ClientRequest, id: string, send: (task: object) => void): () => void {
    const sendState = () => {
      const task = this.#lookUp(client, id);
      if (task !== undefined) send(task.detailed());
    };
    sendState();
    return this.#watch(id, sendState);
  }

  /** @throws ProtocolError -32602 for a task that its client does not have. */
  #find(request: ClientRequest): Task {
    requireTasks(request);
    const id = String(request.params.taskId);
    const task = this.#lookUp(request.client, id);
    if (task !== undefined) return task;
    const why = "It has expired or never existed, or it belongs to another caller.";
    throw new ProtocolError(invalidParams(`There is no task ${show(id)}. ${why}`));
  }

  #lookUp({ principal }: Client, id: string): Task | undefined {
    const task = this.#tasks.get(id);
    if (task === undefined || task.owner !== (principal?.key ?? "")) return undefined;
    return principal?.scopes?.includes(task.scope) === false ? undefined : task;
  }

  #watch(id: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(changed));
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0) this.#watchers.delete(id);
    };
  }

  /** Ends the running tasks. */
  close(): void {
    const error = internalError("The server closed before this task was finished.");
    for (const task of this.#tasks.values()) if (!task.isFinished) task.end(error);
  }
}

/** @throws ProtocolError -32021 if a client of 2026-07-28 does not declare tasks. */
export function requireTasks({ client, revision }: ClientRequest): void {
  if (revision.era === "modern" && client.capabilities?.extensions?.[TASKS_EXTENSION] === undefined)
    throw new ProtocolError({
      code: CODES.missingClientCapability,
      message: `This needs a client that declares the extension ${TASKS_EXTENSION}.`,
      data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    });
}
