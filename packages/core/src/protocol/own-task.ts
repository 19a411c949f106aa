import { internalError } from "./errors.ts";
import type { ClientRequest, TaskWork } from "./request.ts";
import { META, type RpcError } from "./wire.ts";

/** A task's state. Times are in milliseconds of `Date.now()`. */
export interface TaskState {
  readonly id: string;
  /** The key of its caller; for others it does not exist. */
  readonly owner: string;
  /** The OAuth scope that its tool needs. */
  readonly scope: string;
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

/** How long a finished task is kept, in milliseconds. */
export const KEPT_MS = 15 * 60_000;
/** How often clients should ask for a task's state, and the time between two reports of its progress. */
export const POLL_MS = 1_000;
/** How long a person may take to answer a task's questions, in milliseconds. */
const ANSWER_MS = 10 * 60_000;

export const isFinished = ({ status }: TaskState): boolean =>
  status !== "working" && status !== "input_required";

interface TaskHooks {
  changed(): void;
  /** @param characters of its result. */
  finished(characters: number): void;
}

/** A task that this process runs or ran: the work of one call, and what it reports. */
export class OwnTask implements TaskWork {
  state: TaskState;
  /** Of its result. */
  characters = 0;
  readonly #request: ClientRequest;
  readonly #hooks: TaskHooks;
  #rounds = 0;
  /** The open questions: the keys that the client sees, each once in a task's life, and those of the call. */
  readonly #open = new Map<string, string>();
  #answers: Record<string, unknown> = {};
  #requestState: unknown;
  #late: NodeJS.Timeout | undefined;
  /** Questions of 2025-11-25 that wait for a request for the result, and the function that sends them. */
  #questions: string[] = [];
  #ask: ((question: string) => void) | undefined;

  constructor(state: TaskState, request: ClientRequest, hooks: TaskHooks) {
    this.state = state;
    this.#request = request;
    this.#hooks = hooks;
  }

  cancel(): void {
    this.#request.end();
  }

  close(): void {
    this.#request.end(internalError("The server closed before this task was finished."));
  }

  answer(json: string | undefined): void {
    if (json === undefined) this.#change({ status: "cancelled" });
    else {
      const { result, error }: { result?: Record<string, unknown>; error?: RpcError } =
        JSON.parse(json);
      if (error === undefined) this.#change({ status: "completed", result });
      else this.#change({ status: "failed", error, statusMessage: error.message });
    }
    // It may be large, and the task is kept for a while.
    this.#request.params = {};
    this.characters = json?.length ?? 0;
    this.#hooks.finished(this.characters);
  }

  /** Messages of a call do not reach a client that follows its task. */
  notify(): void {}

  progressed(message: string): void {
    if (Date.now() - this.state.updatedAt >= POLL_MS) this.#change({ statusMessage: message });
  }

  needsInput(required: object): void {
    const { inputRequests, requestState }: { inputRequests?: object; requestState?: unknown } =
      required;
    this.#rounds += 1;
    this.#answers = {};
    this.#requestState = requestState;
    const shownRequests = Object.entries(inputRequests ?? {}).map(
      ([key, question]): [string, object] => {
        const seen = `${this.#rounds}-${key}`;
        this.#open.set(seen, key);
        return [seen, question];
      },
    );
    this.#change({ status: "input_required", inputRequests: Object.fromEntries(shownRequests) });
    const late = internalError(`The client did not answer within ${ANSWER_MS / 60_000} minutes.`);
    this.#late = setTimeout(() => this.#request.end(late), ANSWER_MS);
  }

  update(responses: Readonly<Record<string, unknown>>): void {
    const answered = Object.entries(responses).filter(([seen]) => this.#open.has(seen));
    if (answered.length === 0) return;
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

  ask(json: string): void {
    const message = JSON.parse(json);
    const { _meta } = Object(message.params);
    const related = { ...Object(_meta), [META.relatedTask]: { taskId: this.state.id } };
    this.#questions.push(
      JSON.stringify({ ...message, params: { ...message.params, _meta: related } }),
    );
    this.#change({ status: "input_required" });
    this.#passOn();
  }

  inputReceived(): void {
    clearTimeout(this.#late);
    this.#change({ status: "working", inputRequests: undefined });
  }

  /** Sends the questions of 2025-11-25 with `ask`; returns the function that ends this. */
  attach(ask: (question: string) => void): () => void {
    this.#ask = ask;
    this.#passOn();
    return () => {
      if (this.#ask === ask) this.#ask = undefined;
    };
  }

  #passOn(): void {
    if (this.#ask !== undefined)
      for (const question of this.#questions.splice(0)) this.#ask(question);
  }

  #change(change: Partial<TaskState>): void {
    if (isFinished(this.state)) return;
    const now = Date.now();
    this.state = { ...this.state, ...change, updatedAt: now };
    if (isFinished(this.state)) {
      clearTimeout(this.#late);
      // From here on, the time to live is that of the result.
      this.state = {
        ...this.state,
        inputRequests: undefined,
        ttlMs: now - this.state.createdAt + KEPT_MS,
      };
    }
    this.#hooks.changed();
  }
}
