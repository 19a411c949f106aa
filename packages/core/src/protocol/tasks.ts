import { crypto } from "@refmcp/boundary/crypto";
import type { Log } from "../log.ts";
import { internalError, invalidParams, ProtocolError, refuseCursor } from "./errors.ts";
import { Shares } from "./load.ts";
import { show } from "./messages.ts";
import {
  isFinished,
  KEPT_MS,
  OwnTask,
  POLL_MS,
  type StoredTask,
  type TaskCommand,
} from "./own-task.ts";
import type { Client, ClientRequest, Handler } from "./request.ts";
import { CODES, type Era, META } from "./wire.ts";

/** Tasks of 2026-07-28 (SEP-2663). Those of 2025-11-25 are a part of that revision. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Shares tasks among the processes that use the same database. */
export interface TaskStore {
  /** Keeps a new task or a new state. Once the promise has resolved, every process finds it. */
  put(task: StoredTask): Promise<void>;
  /** A task that has not expired. */
  get(id: string): Promise<StoredTask | undefined>;
  /** A caller's tasks that have not expired, the newest first. */
  list(owner: string): Promise<readonly StoredTask[]>;
  /** Hands a command to the process that runs the task. */
  send(id: string, command: TaskCommand): Promise<void>;
  /** Sets what is called for tasks that other processes have changed, and for commands from them. */
  listen(event: (id: string, command?: TaskCommand) => void): void;
  close(): Promise<void>;
}

export interface TaskOptions {
  readonly log: Log;
  /** After how many milliseconds a call becomes a task. */
  readonly afterMs: number;
  /** How long a task may run, in milliseconds. */
  readonly limitMs: number;
  readonly store?: TaskStore | undefined;
}

/** How many tasks, and characters of results, a process keeps; a caller gets at most half of what is free. */
const MAX_TASKS = 2_000;
const MAX_CHARACTERS = 64 * 1_048_576;

/** The tasks of a process: calls that go on after they were answered with a task. */
export class Tasks {
  readonly #options: TaskOptions;
  /** The tasks that this process runs or ran, until they expire. */
  readonly #own = new Map<string, OwnTask>();
  /** Called when a task changes: for streams that listen to it, and requests that wait for its result. */
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #slots = new Shares(MAX_TASKS, true);
  readonly #characters = new Shares(MAX_CHARACTERS, true);

  constructor(options: TaskOptions) {
    this.#options = options;
    options.store?.listen((id, command) => {
      if (command === undefined) this.#changed(id);
      else this.#own.get(id)?.take(command);
    });
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
      if (await this.#begin(request, scope)) return call();
      throw new ProtocolError(
        internalError("Too many tasks are kept. Retry later, or make the call without a task."),
      );
    }
    const timer = setTimeout(() => {
      if (!request.isOver) void this.#begin(request, scope);
    }, this.#options.afterMs);
    return call().finally(() => clearTimeout(timer));
  }

  /** Makes a call a task. @returns whether it was possible. */
  async #begin(request: ClientRequest, scope: string): Promise<boolean> {
    const { owner, client } = request;
    if (!this.#slots.take(owner)) return false;
    const { store, limitMs, log } = this.#options;
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
        ttlMs: limitMs + KEPT_MS,
      },
      request,
      {
        changed: () => this.#changed(id),
        save: (state) => store?.put(state),
        notSaved: (error) => log.warning(`Could not store the state of a task: ${String(error)}`),
        finished: (characters) => {
          this.#characters.count(owner, characters);
          this.#makeRoom(owner, id);
          setTimeout(() => this.#forget(id, owner), KEPT_MS).unref();
        },
      },
    );
    this.#own.set(id, task);
    let isStored = true;
    try {
      // Only a task that can be found may be answered (SEP-2663, "Task Creation").
      await store?.put(task.state);
      if (request.isOver) await store?.put({ ...task.state, status: "cancelled", ttlMs: 0 });
    } catch (error) {
      log.warning(`A call could not become a task: ${String(error)}`);
      isStored = false;
    }
    if (isStored && !request.isOver) {
      const created = shown(task.state, request.revision.era);
      const isLegacy = request.revision.era === "legacy";
      request.becomeTask(task, isLegacy ? { task: created } : { ...created, resultType: "task" });
      return true;
    }
    this.#forget(id, owner);
    return isStored;
  }

  /** Drops the oldest results of a caller while all of its results are too large to be kept, except the newest. */
  #makeRoom(owner: string, newest: string): void {
    for (const [id, task] of this.#own) {
      if (this.#characters.hasRoom(owner, 0)) return;
      if (id !== newest && task.caller === owner && isFinished(task.state)) this.#forget(id, owner);
    }
  }

  #forget(id: string, owner: string): void {
    const task = this.#own.get(id);
    if (task === undefined) return;
    this.#own.delete(id);
    this.#slots.giveBack(owner);
    this.#characters.count(owner, -task.characters);
  }

  /** The methods with which clients follow tasks. @param isListed whether callers can be told apart. */
  methods(era: Era, isListed: boolean): Readonly<Record<string, Handler>> {
    if (era === "modern")
      return {
        "tasks/get": async (request) => detailed(await this.#find(request)),
        "tasks/update": async (request) => {
          await this.#find(request);
          await this.#send(request, {
            kind: "update",
            inputResponses: Object(request.params.inputResponses),
          });
          return {};
        },
        "tasks/cancel": async (request) => {
          await this.#find(request);
          await this.#send(request, { kind: "cancel" });
          return {};
        },
      };
    return {
      "tasks/get": async (request) => shown(await this.#find(request), era),
      "tasks/result": (request) => this.#result(request),
      "tasks/cancel": async (request) => {
        const task = await this.#find(request);
        if (isFinished(task))
          throw new ProtocolError(
            invalidParams(`The task is already ${task.status}; it cannot be cancelled.`),
          );
        await this.#send(request, { kind: "cancel" });
        return shown({ ...task, status: "cancelled", updatedAt: Date.now() }, era);
      },
      ...(isListed && { "tasks/list": (request: ClientRequest) => this.#list(request) }),
    };
  }

  /** The ids of the tasks that exist for the caller of a request. */
  async known(request: ClientRequest, ids: readonly string[]): Promise<string[]> {
    const tasks = await Promise.all(
      [...new Set(ids)].map((id) => this.#lookUp(request.client, id)),
    );
    return tasks.flatMap((task) => task?.id ?? []);
  }

  /** Sends the state of a caller's task, now and whenever it changes; returns the function that ends this. */
  follow({ client }: ClientRequest, id: string, send: (task: object) => void): () => void {
    const tell = () =>
      void this.#lookUp(client, id).then(
        (task) => task !== undefined && send(detailed(task)),
        (error: unknown) => this.#options.log.warning(`Could not read a task: ${String(error)}`),
      );
    tell();
    return this.#watch(id, tell);
  }

  /** Waits until a task is finished, and returns or throws what the call would have. Until then, it passes on questions. */
  async #result(request: ClientRequest): Promise<object> {
    const id = String(request.params.taskId);
    let task = await this.#find(request);
    const detach = this.#own.get(id)?.attach((question) => request.sink.ask(question));
    try {
      while (!isFinished(task)) {
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
        if (request.isOver) break;
        task = await this.#find(request);
      }
    } finally {
      detach?.();
    }
    const { status, result, error } = task;
    if (error !== undefined) throw new ProtocolError(error);
    if (result === undefined) throw new ProtocolError(internalError(`The task is ${status}.`));
    return { ...result, _meta: { ...Object(result._meta), [META.relatedTask]: { taskId: id } } };
  }

  async #list(request: ClientRequest): Promise<object> {
    refuseCursor(request.params.cursor);
    const owner = request.client.principal?.key ?? "";
    const own = [...this.#own.values()]
      .map(({ state }) => state)
      .filter((task) => task.owner === owner);
    const tasks =
      this.#options.store === undefined ? own.toReversed() : await this.#options.store.list(owner);
    return { tasks: tasks.map((task) => shown(task, "legacy")) };
  }

  /** @throws ProtocolError -32602 for a task that its caller does not have. */
  async #find(request: ClientRequest, id = String(request.params.taskId)): Promise<StoredTask> {
    requireTasks(request);
    const task = await this.#lookUp(request.client, id);
    if (task !== undefined) return task;
    const why = "It has expired or never existed, or it belongs to another caller.";
    throw new ProtocolError(invalidParams(`There is no task ${show(id)}. ${why}`));
  }

  async #lookUp({ principal }: Client, id: string): Promise<StoredTask | undefined> {
    const task = this.#own.get(id)?.state ?? (await this.#options.store?.get(id));
    const isAllowed =
      task?.owner === (principal?.key ?? "") && principal?.scopes?.includes(task.scope) !== false;
    return isAllowed ? task : undefined;
  }

  async #send({ params }: ClientRequest, command: TaskCommand): Promise<void> {
    const id = String(params.taskId);
    const own = this.#own.get(id);
    if (own === undefined) await this.#options.store?.send(id, command);
    else own.take(command);
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

  /** Ends the running tasks, and waits until all are stored. */
  async close(): Promise<void> {
    const own = [...this.#own.values()];
    for (const task of own) task.close();
    await Promise.all(own.map((task) => task.saved));
    await this.#options.store?.close();
  }
}

/** The error for a client that cannot follow a task: -32021 (SEP-2663), or -32601 (2025-11-25, `taskSupport`). */
export function tasksNeeded({ revision }: Pick<ClientRequest, "revision">): ProtocolError {
  const message = `This needs a client that ${revision.era === "modern" ? `declares the extension ${TASKS_EXTENSION}` : "makes the call a task"}.`;
  return new ProtocolError(
    revision.era === "modern"
      ? {
          code: CODES.missingClientCapability,
          message,
          data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
        }
      : { code: CODES.methodNotFound, message },
  );
}

/** @throws ProtocolError -32021 if a client of 2026-07-28 does not declare tasks. */
export function requireTasks(request: Pick<ClientRequest, "client" | "revision">): void {
  const { client, revision } = request;
  if (revision.era === "modern" && client.capabilities?.extensions?.[TASKS_EXTENSION] === undefined)
    throw tasksNeeded(request);
}

/** A task as clients see it, without its outcome. */
function shown(
  { id, status, statusMessage, createdAt, updatedAt, ttlMs }: StoredTask,
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

function detailed(task: StoredTask): object {
  const { inputRequests, result, error } = task;
  return {
    ...shown(task, "modern"),
    ...(inputRequests === undefined ? {} : { inputRequests }),
    ...(result === undefined ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  };
}
