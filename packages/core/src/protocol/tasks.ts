import { crypto } from "@refmcp/boundary/crypto";
import { internalError, invalidParams, ProtocolError, refuseCursor } from "./errors.ts";
import { Amount } from "./load.ts";
import { show } from "./messages.ts";
import { isFinished, KEPT_MS, OwnTask, POLL_MS, type TaskState } from "./own-task.ts";
import type { Client, ClientRequest, Handler } from "./request.ts";
import { CODES, type Era, META } from "./wire.ts";

/** Tasks of 2026-07-28 (SEP-2663). Those of 2025-11-25 are a part of that revision. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

export interface TaskOptions {
  /** After how many milliseconds a call becomes a task. */
  readonly afterMs: number;
  /** How long a task may run, in milliseconds. */
  readonly limitMs: number;
}

/** How many tasks, and characters of results, a process keeps. */
const MAX_TASKS = 2_000;
const MAX_CHARACTERS = 64 * 1_048_576;

/** The tasks of a process: calls that go on after they were answered with a task. */
export class Tasks {
  readonly #options: TaskOptions;
  /** The tasks that this process runs or ran, until they expire. */
  readonly #own = new Map<string, OwnTask>();
  /** Called when a task changes: for streams that listen to it, and requests that wait for its result. */
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #slots = new Amount(MAX_TASKS);
  readonly #characters = new Amount(MAX_CHARACTERS);

  constructor(options: TaskOptions) {
    this.#options = options;
  }

  /** Whether a call's client can follow a task. In 2025-11-25 it asks for one in the call. */
  isFor({
    client,
    params,
    revision,
  }: Pick<ClientRequest, "client" | "params" | "revision">): boolean {
    return revision.era === "modern"
      ? client.capabilities?.extensions?.[TASKS_EXTENSION] !== undefined
      : revision.taskParameter && client.ask !== undefined && params.task !== undefined;
  }

  /**
   * Runs a call of a client that can follow a task. It becomes one at once if the client asked for that (2025-11-25),
   * and otherwise when it takes long; questions before that are asked without a task.
   *
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
    const { client, revision } = request;
    if (!this.#slots.take()) return false;
    const now = Date.now();
    const id = crypto().randomUUID();
    const task = new OwnTask(
      {
        id,
        owner: client.principal?.key ?? "",
        scope,
        status: "working",
        createdAt: now,
        updatedAt: now,
        ttlMs: this.#options.limitMs + KEPT_MS,
      },
      request,
      {
        changed: () => this.#changed(id),
        finished: (characters) => {
          this.#characters.count(characters);
          this.#makeRoom(id);
          setTimeout(() => this.#forget(id), KEPT_MS).unref();
        },
      },
    );
    this.#own.set(id, task);
    const created = shown(task.state, revision.era);
    const isLegacy = revision.era === "legacy";
    request.becomeTask(task, isLegacy ? { task: created } : { ...created, resultType: "task" });
    return true;
  }

  /** Drops the oldest results, but the newest, while all together are too large to be kept. */
  #makeRoom(newest: string): void {
    for (const [id, task] of this.#own) {
      if (this.#characters.hasRoom(0)) return;
      if (id !== newest && isFinished(task.state)) this.#forget(id);
    }
  }

  #forget(id: string): void {
    const task = this.#own.get(id);
    if (task === undefined) return;
    this.#own.delete(id);
    this.#slots.count(-1);
    this.#characters.count(-task.characters);
  }

  /** The methods with which clients follow tasks. @param isListed whether callers can be told apart. */
  methods(era: Era, isListed: boolean): Readonly<Record<string, Handler>> {
    if (era === "modern")
      return {
        "tasks/get": (request) => detailed(this.#find(request).state),
        "tasks/update": (request) => {
          this.#find(request).update(Object(request.params.inputResponses));
          return {};
        },
        "tasks/cancel": (request) => {
          this.#find(request).cancel();
          return {};
        },
      };
    return {
      "tasks/get": (request) => shown(this.#find(request).state, era),
      "tasks/result": (request) => this.#result(request),
      "tasks/cancel": (request) => {
        const task = this.#find(request);
        if (isFinished(task.state))
          throw new ProtocolError(
            invalidParams(`The task is already ${task.state.status}; it cannot be cancelled.`),
          );
        task.cancel();
        return shown(task.state, era);
      },
      ...(isListed && { "tasks/list": (request: ClientRequest) => this.#list(request) }),
    };
  }

  /** The ids of the tasks that exist for the caller of a request. */
  known({ client }: ClientRequest, ids: readonly string[]): string[] {
    return [...new Set(ids)].filter((id) => this.#lookUp(client, id) !== undefined);
  }

  /** Sends the state of a caller's task, now and whenever it changes; returns the function that ends this. */
  follow({ client }: ClientRequest, id: string, send: (task: object) => void): () => void {
    const tell = () => {
      const task = this.#lookUp(client, id);
      if (task !== undefined) send(detailed(task.state));
    };
    tell();
    return this.#watch(id, tell);
  }

  /** Waits until a task is finished, and returns or throws what the call would have. Until then, it passes on questions. */
  async #result(request: ClientRequest): Promise<object> {
    const id = String(request.params.taskId);
    const task = this.#find(request);
    const detach = task.attach((question) => request.sink.ask(question));
    try {
      while (!isFinished(task.state) && !request.isOver)
        await new Promise<void>((changed) => {
          const end = this.#watch(id, () => {
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
    return { ...result, _meta: { ...Object(result._meta), [META.relatedTask]: { taskId: id } } };
  }

  #list(request: ClientRequest): object {
    refuseCursor(request.params.cursor);
    const owner = request.client.principal?.key ?? "";
    const tasks = [...this.#own.values()].flatMap(({ state }) =>
      state.owner === owner ? [shown(state, "legacy")] : [],
    );
    return { tasks: tasks.reverse() };
  }

  /** @throws ProtocolError -32602 for a task that its caller does not have. */
  #find(request: ClientRequest): OwnTask {
    requireTasks(request);
    const id = String(request.params.taskId);
    const task = this.#lookUp(request.client, id);
    if (task !== undefined) return task;
    const why = "It has expired or never existed, or it belongs to another caller.";
    throw new ProtocolError(invalidParams(`There is no task ${show(id)}. ${why}`));
  }

  #lookUp({ principal }: Client, id: string): OwnTask | undefined {
    const task = this.#own.get(id);
    const isAllowed =
      task?.state.owner === (principal?.key ?? "") &&
      principal?.scopes?.includes(task.state.scope) !== false;
    return isAllowed ? task : undefined;
  }

  #watch(id: string, changed: () => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(changed));
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0) this.#watchers.delete(id);
    };
  }

  #changed(id: string): void {
    for (const changed of [...(this.#watchers.get(id) ?? [])]) changed();
  }

  /** Ends the running tasks. */
  close(): void {
    for (const task of this.#own.values()) task.close();
  }
}

/** @throws ProtocolError -32021 if a client of 2026-07-28 does not declare tasks. */
export function requireTasks(request: Pick<ClientRequest, "client" | "revision">): void {
  const { client, revision } = request;
  if (revision.era === "modern" && client.capabilities?.extensions?.[TASKS_EXTENSION] === undefined)
    throw new ProtocolError({
      code: CODES.missingClientCapability,
      message: `This needs a client that declares the extension ${TASKS_EXTENSION}.`,
      data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    });
}

/** A task as clients see it, without its outcome. */
function shown(
  { id, status, statusMessage, createdAt, updatedAt, ttlMs }: TaskState,
  era: Era,
): object {
  return {
    taskId: id,
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ...(era === "legacy"
      ? { ttl: ttlMs, pollInterval: POLL_MS }
      : { ttlMs, pollIntervalMs: POLL_MS }),
  };
}

function detailed(task: TaskState): object {
  const { inputRequests, result, error } = task;
  return {
    ...shown(task, "modern"),
    ...(inputRequests === undefined ? {} : { inputRequests }),
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  };
}
