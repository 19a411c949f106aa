import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { ToolError } from "@refmcp/boundary/answer";
import { workerFile } from "@refmcp/core/worker-file";
import { explained } from "./failures.ts";
import {
  type Answers,
  FrameReader,
  frameOf,
  MAX_FRAMES,
  type Message,
  PIPE,
  type Reply,
  workId,
} from "./frames.ts";

/** A job of a caller, until it is answered. */
export interface Task extends Message {
  /** The file to name in errors. */
  readonly file: string;
  readonly signal: AbortSignal;
  /** How long it may run, in milliseconds; waiting does not count. */
  readonly timeoutMs: number;
  resolve(answer: never): void;
  reject(error: unknown): void;
}
/** Answers are short-lived, so more room for them only keeps memory. */
const FLAGS = ["--max-semi-space-size=2"];

/** Jobs that commit a change. */
const COMMITTING: ReadonlySet<Message["op"]> = new Set<Message["op"]>([
  "write",
  "undo",
  "closeTable",
]);

/** What happens in a runner, with the jobs that need another one. */
export interface RunnerEvents<One> {
  /** It waits for its next frame; these jobs of the last one did not run. */
  free(others: readonly One[]): void;
  /** One of its jobs takes long, and the others of its frame are taken back. */
  long(others: readonly One[]): void;
  /** The process ended, and which of these jobs was the reason is unknown. */
  ended(others: readonly One[]): void;
}

/** A process that runs the jobs of one frame at a time, in order. */
export class Runner<One extends Task = Task> {
  /** Whether it is running a job that takes long. */
  isLong = false;
  readonly #child: ChildProcess;
  readonly #pipe: Socket;
  readonly #memory: number;
  readonly #events: RunnerEvents<One>;
  #isEnded = false;
  #started: ((reply: Reply<never> | undefined) => void) | undefined;
  #line = "";
  #said = "";
  #frame = 0;
  /** The jobs of the frame, by position: undefined once they are answered, cancelled or taken back. */
  #tasks: (One | undefined)[] = [];
  #answered = 0;
  #limit: NodeJS.Timeout | undefined;
  /** When the first unanswered job began to run, at the earliest. */
  #since = 0;
  #stopped: { readonly task: Task; readonly reason: unknown } | undefined;

  /** @param memory limit of the process, in MB */
  constructor(memory: number, events: RunnerEvents<One>) {
    this.#memory = memory;
    this.#events = events;
    const args = [
      ...FLAGS,
      workerFile("runner", import.meta.url),
      String(memory),
      String(process.pid),
    ];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe", "pipe"] });
    const pipe = child.stdio[PIPE];
    if (!(pipe instanceof Socket)) throw new Error("no pipe to a runner");
    this.#child = child;
    this.#pipe = pipe;
    const reader = new FrameReader<Answers<never>>();
    pipe.on("data", (chunk: Buffer) => {
      for (const answers of reader.add(chunk)) this.#onAnswers(answers);
    });
    // The end of the process says more.
    pipe.on("error", () => undefined);
    child.stderr?.on("data", this.#onStderr);
    child.on("error", () => undefined);
    child.on("close", this.#onClose);
  }

  /** Resolves when it waits for jobs. @throws ToolError `unavailable` if it can't run SQLite */
  async start(): Promise<void> {
    const reply = await new Promise<Reply<never> | undefined>((resolve) => {
      this.#started = resolve;
    });
    if (reply === undefined)
      throw new ToolError("unavailable", "The process that runs SQLite ended while it started.", {
        hint: "Repeat the call.",
        cause: this.#said,
      });
    if ("unavailable" in reply) {
      this.kill();
      const { message, hint, cause } = reply.unavailable;
      throw new ToolError("unavailable", message, { ...(hint !== undefined && { hint }), cause });
    }
  }

  /** Runs the jobs of a frame: one, or up to `MAX_JOBS` that may run twice. */
  send(tasks: readonly One[]): void {
    if (this.#isEnded) {
      for (const task of tasks) task.reject(this.#endOf(task));
      return;
    }
    this.#frame = (this.#frame + 1) % MAX_FRAMES;
    this.#tasks = [...tasks];
    this.#answered = 0;
    this.#pipe.write(
      frameOf({ frame: this.#frame, messages: tasks.map(({ op, job }) => ({ op, job })) }),
    );
    this.#startLimit(performance.now());
  }

  /** Closes the files that it has kept open. */
  rest(): void {
    this.#pipe.write(frameOf({ frame: 0, messages: [] }));
  }

  /** The caller doesn't want the answer anymore: ends the process if it is running the job. */
  cancel(task: One): void {
    if (this.#running === task) this.#stop(task, task.signal.reason);
    else {
      // If it is running and takes long, it will be reported.
      this.#tasks[this.#tasks.indexOf(task)] = undefined;
      task.reject(task.signal.reason);
    }
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  get #pending(): One[] {
    return this.#tasks.filter((task) => task !== undefined);
  }

  /** The job that is running, if that is known. */
  get #running(): One | undefined {
    return this.isLong || this.#tasks.length - this.#answered === 1 ? this.#pending[0] : undefined;
  }

  #onAnswers({ first, replies, isEnd }: Answers<never>): void {
    if (this.#started !== undefined) {
      this.#started(replies[0]);
      this.#started = undefined;
      // Its pipes don't keep the server running.
      this.#child.unref();
      this.#pipe.unref();
      if (this.#child.stderr instanceof Socket) this.#child.stderr.unref();
      return;
    }
    this.#answered = first + replies.length;
    for (const [index, reply] of replies.entries()) {
      const task = this.#tasks[first + index];
      this.#tasks[first + index] = undefined;
      if ("failed" in reply) task?.reject(explained(reply.failed, task.file));
      // An undefined answer is absent.
      else if (!("unavailable" in reply)) task?.resolve(reply.answer);
    }
    if (!isEnd) {
      this.#startLimit(performance.now());
      return;
    }
    clearTimeout(this.#limit);
    const others = this.#pending;
    this.#tasks = [];
    this.isLong = false;
    this.#events.free(others);
  }

  readonly #onStderr = (chunk: Buffer): void => {
    const lines = (this.#line + String(chunk)).split("\n");
    this.#line = (lines.pop() ?? "").slice(-2_000);
    for (const line of lines) {
      const [, id] = /^refmcp: long (\d+)$/.exec(line) ?? [];
      if (id !== undefined) this.#onLong(Number(id));
      else this.#said = `${this.#said}${line}\n`.slice(-2_000);
    }
  };

  #onLong(id: number): void {
    const at = this.#tasks.findIndex((_, index) => workId(this.#frame, index) === id);
    if (at < this.#answered) return;
    const task = this.#tasks[at];
    const others = this.#pending.filter((other) => other !== task);
    this.#tasks = this.#tasks.map((other, index) => (index === at ? other : undefined));
    this.isLong = true;
    this.#startLimit(this.#since);
    this.#events.long(others);
    if (task === undefined) this.kill();
  }

  /** @param since when the first unanswered job began */
  #startLimit(since: number): void {
    this.#since = since;
    clearTimeout(this.#limit);
    const [task] = this.#pending;
    if (task === undefined) return;
    const left = task.timeoutMs - (performance.now() - since);
    this.#limit = setTimeout(this.#onLate, left).unref();
  }

  readonly #onLate = (): void => {
    const task = this.#running;
    if (task === undefined) this.kill();
    else {
      const text = `The statement was stopped after ${task.timeoutMs} ms; it changed nothing.`;
      const hint = "Narrow it, check it with explain, or ask the user to raise --query-timeout-ms.";
      this.#stop(task, new ToolError("timeout", text, { hint }));
    }
  };

  /** Ends the process; its job then fails with the reason. */
  #stop(task: Task, reason: unknown): void {
    this.#stopped ??= { task, reason };
    this.kill();
  }

  readonly #onClose = (): void => {
    this.#isEnded = true;
    clearTimeout(this.#limit);
    this.#started?.(undefined);
    const task = this.#running;
    const others = this.#pending.filter((other) => other !== task);
    this.#tasks = [];
    task?.reject(task === this.#stopped?.task ? this.#stopped.reason : this.#endOf(task));
    this.#events.ended(others);
  };

  /** Why the process ended by itself. */
  #endOf({ op }: Task): ToolError {
    if (!this.#said.includes("refmcp: memory"))
      return new ToolError("unavailable", "The process that ran the statement ended.", {
        hint: COMMITTING.has(op)
          ? "It may have ended after the commit: see list_database_changes before you repeat the call."
          : "Repeat the call.",
      });
    const text = `The statement needed more than ${this.#memory} MB and was stopped.`;
    const hint =
      "Request less at once (substr, LIMIT, no large randomblob or printf), or ask the user to raise --max-memory-mb.";
    return new ToolError("too_large", text, { hint });
  }
}
