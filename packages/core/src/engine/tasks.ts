import { crypto } from "@refmcp/boundary/crypto";
import { type Client, followsTasks, type Send } from "./caller.ts";
import { internalError, invalidParams, ProtocolError } from "./errors.ts";
import { show } from "./message.ts";
import type { ClientRequest, Handler, TaskWork } from "./request.ts";
import { CODES, type Era, META, type RpcError, TASKS_EXTENSION } from "./wire.ts";

/** How long a finished task is kept, in milliseconds. */
const KEEP_MS = 15 * 60_000;
/** How often clients should ask for a task's state, and the time between two reports of its progress. */
const POLL_MS = 1_000;
/** How long a person may take to answer a task's questions, in milliseconds. */
const ANSWER_MS = 10 * 60_000;

interface TaskState {
  readonly status: "working" | "input_required" | "completed" | "cancelled" | "failed";
  readonly statusMessage?: string;
  readonly inputRequests?: Readonly<Record<string, object>> | undefined;
  readonly result?: Readonly<Record<string, unknown>> | undefined;
  readonly error?: RpcError;
}

/** A call that goes on after it was answered with a task: a request whose `send` is that of the task. */
class Task implements TaskWork {
  readonly id = crypto().randomUUID();
  /** The OAuth scope that its tool needs. */
  readonly scope: string;
  state: TaskState = { status: "working" };
  #finish: (() => void) | undefined;
  /** The length of its result. */
  characters = 0;
  /** Resolves when it is finished. */
  readonly whenFinished = new Promise<void>((resolve) => {
    this.#finish = resolve;
  });
  readonly request: ClientRequest;
  readonly #createdAt = Date.now();
  #updatedAt = this.#createdAt;
  #ttlMs: number;
  #rounds = 0;
  /** The open questions: the keys that the client sees, each once in a task's life, and those of the call. */
  readonly #openQuestions = new Map<string, string>();
  #answers: Record<string, unknown> = {};
  #requestState: unknown;
  #answerTimer: NodeJS.Timeout | undefined;

  constructor(request: ClientRequest, scope: string, limitMs: number) {
    this.scope = scope;
    this.request = request;
    this.#ttlMs = limitMs + KEEP_MS;
  }

  get isFinished(): boolean {
    return this.state.status !== "working" && this.state.status !== "input_required";
  }

  /** Whether it exists for a client: it is the caller's own, whose token has the scope of its tool. */
  isFor({ principal }: Client): boolean {
    return (
      this.request.client.principal?.key === principal?.key &&
      principal?.scopes?.includes(this.scope) !== false
    );
  }

  /** Takes what its request sends. Notifications do not reach a client that follows a task. */
  readonly send: Send = (json = "{}", kind) => {
    if (kind === "question") return this.#pass(JSON.parse(json));
    if (kind !== "answer") return;
    const { result, error }: Pick<TaskState, "result" | "error"> = JSON.parse(json);
    if (result?.resultType === "input_required") return this.#inputRequired(result);
    // It may be large, and the task is kept for a while.
    this.request.params = {};
    this.characters = json.length;
    if (error !== undefined)
      this.#change({ status: "failed", error, statusMessage: error.message });
    else if (result === undefined) this.#change({ status: "cancelled" });
    else this.#change({ status: "completed", result });
  };

  /** Sends a question of 2025-11-25, which names its task. */
  #pass(question: { params?: { _meta?: object } }): void {
    const _meta = { ...question.params?._meta, [META.relatedTask]: { taskId: this.id } };
    this.#change({ status: "input_required" });
    const params = { ...question.params, _meta };
    this.request.caller.send?.(JSON.stringify({ ...question, params }), "question");
  }

  reportProgress(message: string): void {
    if (Date.now() - this.#updatedAt >= POLL_MS) this.#change({ statusMessage: message });
  }

  /** Ends its call: with an error, or as cancelled. */
  end(error?: RpcError): void {
    if (!this.request.isOver) this.request.abort(error);
    else this.send(JSON.stringify({ error }), "answer");
  }

  /** The client must answer questions before the call runs again. */
  #inputRequired({ inputRequests, requestState }: Readonly<Record<string, unknown>>): void {
    this.#rounds += 1;
    this.#answers = {};
    this.#requestState = requestState;
    const questionsByClientKey: Record<string, object> = {};
    for (const [key, question] of Object.entries<object>(Object(inputRequests))) {
      questionsByClientKey[`${this.#rounds}-${key}`] = question;
      this.#openQuestions.set(`${this.#rounds}-${key}`, key);
    }
    this.#change({ status: "input_required", inputRequests: questionsByClientKey });
    const error = internalError(`The client did not answer within ${ANSWER_MS / 60_000} minutes.`);
    this.#answerTimer = setTimeout(() => this.end(error), ANSWER_MS);
  }

  /** Takes the client's answers (`tasks/update`). With the last one, the call runs again. */
  update(responses: Readonly<Record<string, unknown>>) {
    const answers = Object.entries(responses).filter(([key]) => this.#openQuestions.has(key));
    if (answers.length === 0 || this.isFinished) return;
    for (const [clientKey, answer] of answers) {
      this.#answers[this.#openQuestions.get(clientKey) ?? ""] = answer;
      this.#openQuestions.delete(clientKey);
    }
    if (this.#openQuestions.size > 0) {
      const questions = Object.entries(this.state.inputRequests ?? {});
      const openQuestions = questions.filter(([clientKey]) => this.#openQuestions.has(clientKey));
      return this.#change({ inputRequests: Object.fromEntries(openQuestions) });
    }
    this.onInput();
    this.request.repeat({ inputResponses: this.#answers, requestState: this.#requestState });
  }

  onInput(): void {
    clearTimeout(this.#answerTimer);
    this.#change({ status: "working", inputRequests: undefined });
  }

  #change(change: Partial<TaskState>): void {
    if (this.isFinished) return;
    this.state = { ...this.state, ...change };
    this.#updatedAt = Date.now();
    if (!this.isFinished) return;
    clearTimeout(this.#answerTimer);
    this.state = { ...this.state, inputRequests: undefined };
    // From here on, the time to live is that of the result.
    this.#ttlMs = this.#updatedAt - this.#createdAt + KEEP_MS;
    this.#finish?.();
  }

  /** As clients see it; with its outcome in 2026-07-28. */
  describe(era: Era, outcome = {}): object {
    const [ttl, poll] = era === "legacy" ? ["ttl", "pollInterval"] : ["ttlMs", "pollIntervalMs"];
    const { status, statusMessage } = this.state;
    const createdAt = new Date(this.#createdAt).toISOString();
    const lastUpdatedAt = new Date(this.#updatedAt).toISOString();
    const times = { createdAt, lastUpdatedAt, [ttl]: this.#ttlMs, [poll]: POLL_MS };
    return { taskId: this.id, status, statusMessage, ...times, ...outcome };
  }
}

/** The tasks of a process, until they expire. */
export class Tasks {
  readonly #options: { readonly afterMs: number; readonly limitMs: number };
  readonly #tasks = new Map<string, Task>();

  /** After how many milliseconds a call becomes a task, and how long that may run. */
  constructor(options: { readonly afterMs: number; readonly limitMs: number }) {
    this.#options = options;
  }

  /**
   * Runs a call of a client that can follow a task. It becomes one at once if the client asked for that (2025-11-25),
   * and otherwise when it takes long; questions before that are asked without a task.
   *
   * @param scope the OAuth scope that the call's tool needs.
   * @throws ProtocolError -32603 if the client asked for a task, but too many are kept.
   */
  async run<Result>(request: ClientRequest, scope: string, call: () => Promise<Result>) {
    if (request.revision.era === "legacy") {
      request.taskAfterMs = 0;
      if (this.#begin(request, scope)) return call();
      throw new ProtocolError(internalError("Too many tasks. Make the call without a task."));
    }
    const { afterMs } = this.#options;
    request.taskAfterMs = afterMs;
    const timer = setTimeout(() => {
      if (!request.isOver && !this.#begin(request, scope))
        request.taskAfterMs = Number.POSITIVE_INFINITY;
    }, afterMs);
    return call().finally(() => clearTimeout(timer));
  }

  /** Makes a call a task. @returns whether it was possible. */
  #begin(request: ClientRequest, scope: string): boolean {
    if (!request.load.tasks.take(request.caller.owner)) return false;
    const { era } = request.revision;
    const task = new Task(request, scope, this.#options.limitMs);
    this.#tasks.set(task.id, task);
    void task.whenFinished.then(() => this.#keep(task));
    const state = task.describe(era);
    request.becomeTask(task, era === "legacy" ? { task: state } : { ...state, resultType: "task" });
    return true;
  }

  /**
   * Keeps a result for a while. While all together are too large, drops the oldest ones: of the caller if it has more
   * than its share, otherwise of anyone.
   */
  #keep(newest: Task): void {
    const { load, caller } = newest.request;
    const { taskCharacters: limit } = load;
    limit.count(newest.characters, caller.owner);
    const isOwn = limit.usedBy(caller.owner) > limit.perOwner;
    for (const task of this.#tasks.values()) {
      if (limit.hasRoom(0, caller.owner)) break;
      const isCandidate = !isOwn || task.request.caller.owner === caller.owner;
      if (isCandidate && task !== newest && task.isFinished) this.#forget(task);
    }
    setTimeout(() => this.#forget(newest), KEEP_MS).unref();
  }

  #forget({ id, request: { load, caller }, characters }: Task): void {
    if (!this.#tasks.delete(id)) return;
    load.tasks.count(-1, caller.owner);
    load.taskCharacters.count(-characters, caller.owner);
  }

  /** `tasks/get`, in both eras. */
  readonly get: Handler = (request) => {
    const task = this.#find(request);
    const { era } = request.revision;
    return task.describe(era, era === "modern" ? task.state : {});
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
    const { status } = task.state;
    if (isLegacy && task.isFinished)
      throw new ProtocolError(invalidParams(`The task is already ${status}.`));
    task.end();
    return isLegacy ? task.describe("legacy") : {};
  };

  /** `tasks/result`, of 2025-11-25: waits until a task is finished, and returns or throws what the call would have. */
  readonly result: Handler = async (request) => {
    const task = this.#find(request);
    await task.whenFinished;
    const { status, result, error = internalError(`The task is ${status}.`) } = task.state;
    if (result === undefined) throw new ProtocolError(error);
    const _meta = { ...Object(result._meta), [META.relatedTask]: { taskId: task.id } };
    return { ...result, _meta };
  };

  /** @throws ProtocolError -32021 for a client that does not declare tasks, -32602 for a task that it does not have. */
  #find({ client, params, revision }: ClientRequest): Task {
    if (revision.era === "modern" && !followsTasks(client))
      throw new ProtocolError({
        code: CODES.missingClientCapability,
        message: `This needs a client that declares the extension ${TASKS_EXTENSION}.`,
        data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
      });
    const id = String(params.taskId);
    const task = this.#tasks.get(id);
    if (task?.isFor(client) === true) return task;
    const why = "It has expired or never existed, or it belongs to another caller.";
    throw new ProtocolError(invalidParams(`There is no task ${show(id)}. ${why}`));
  }

  /** Ends the running tasks. */
  close(): void {
    const error = internalError("The server closed before this task was finished.");
    for (const task of this.#tasks.values()) if (!task.isFinished) task.end(error);
  }
}
