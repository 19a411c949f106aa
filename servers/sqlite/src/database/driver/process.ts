import { type ChildProcess, fork } from "node:child_process";
import { ToolError } from "@refmcp/boundary/answer";
import { workerFile } from "@refmcp/core/worker-file";
import { explained } from "./errors.ts";
import type { Answer, Job, Op, Reply, Run } from "./jobs.ts";

/** Answers are short-lived, so more room for them only keeps memory. */
const FLAGS = ["--max-semi-space-size=2"];
/** Jobs that commit a change. */
const COMMITTING: ReadonlySet<Op> = new Set<Op>(["change", "undo", "closeTable"]);
/** The code of the error of a job whose process ended by itself. */
export const ENDED = "REFMCP_ENDED";

interface Running {
  readonly op: Op;
  settle(reply: Reply | undefined): void;
}

/**
 * A process that runs SQLite, one job at a time, because there is no other way to stop a running statement: the time limit, a
 * cancellation and the memory limit kill it. Whoever opens the file next rolls back an unfinished change.
 */
export class SqliteProcess {
  /** Resolves when it waits for jobs. @throws ToolError `unavailable` if it can't run SQLite */
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #memory: number;
  #running: Running | undefined;
  #isEnded = false;
  #said = "";

  /** @param memory limit in MB @param ended called when it has ended */
  constructor(memory: number, ended: () => void) {
    this.#memory = memory;
    const watchdog = workerFile("watchdog", import.meta.url);
    const child = fork(
      workerFile("runner", import.meta.url),
      [watchdog, String(memory), String(process.pid)],
      { serialization: "advanced", stdio: ["ignore", "ignore", "pipe", "ipc"], execArgv: FLAGS },
    );
    this.#child = child;
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk}`.slice(-2_000);
    });
    // The end of the process says more.
    child.on("error", () => undefined);
    child.on("message", (reply: Reply) => this.#running?.settle(reply));
    child.on("close", () => {
      this.#isEnded = true;
      this.#running?.settle(undefined);
      ended();
    });
    this.ready = this.#start();
    this.ready.catch(() => undefined);
  }

  async #start(): Promise<void> {
    const reply = await new Promise<Reply | undefined>((settle) => {
      this.#running = { op: "rest", settle };
    });
    this.#running = undefined;
    if (reply === undefined)
      throw new ToolError("unavailable", "The process that runs SQLite ended while it started.", {
        hint: "Repeat the call.",
        cause: this.#said,
      });
    // Its pipes don't keep the server running.
    this.#child.unref();
    this.#child.channel?.unref();
    const { stderr } = this.#child;
    if (stderr !== null && "unref" in stderr && typeof stderr.unref === "function") stderr.unref();
    if (!("unavailable" in reply)) return;
    this.kill();
    const { message, hint, cause } = reply.unavailable;
    throw new ToolError("unavailable", message, { ...(hint !== undefined && { hint }), cause });
  }

  /**
   * Runs a job.
   *
   * @param file to name in errors
   * @throws ToolError `timeout`, `too_large` (memory), `unavailable` with the code `ENDED`, an error of SQLite, or the signal's reason
   */
  run<Name extends Op>(
    op: Name,
    job: Job<Name>,
    { file, signal, timeoutMs }: Run & { readonly file: string },
  ): Promise<Answer<Name>> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      let stopped: { readonly reason: unknown } | undefined;
      const stop = (reason: unknown) => {
        stopped ??= { reason };
        this.kill();
      };
      const cancel = () => stop(signal.reason);
      const timer = setTimeout(() => stop(timedOut(timeoutMs)), timeoutMs).unref();
      const settle = (reply: Reply | undefined) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
        this.#running = undefined;
        if (reply === undefined) reject(stopped === undefined ? this.#endOf(op) : stopped.reason);
        else if ("failed" in reply) reject(explained(reply.failed, file));
        else if ("answer" in reply) resolve(reply.answer);
      };
      signal.addEventListener("abort", cancel, { once: true });
      if (this.#isEnded) return settle(undefined);
      this.#running = { op, settle };
      this.#child.send({ op, job });
    });
  }

  /** Closes the files that it has kept open. */
  rest(): void {
    if (!this.#isEnded) this.#child.send({ op: "rest", job: {} });
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Why the process ended by itself. */
  #endOf(op: Op): ToolError {
    if (!this.#said.includes("refmcp: memory"))
      return new ToolError("unavailable", "The process that ran the statement ended.", {
        code: ENDED,
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

const timedOut = (timeoutMs: number) =>
  new ToolError("timeout", `The statement was stopped after ${timeoutMs} ms; it changed nothing.`, {
    hint: "Narrow it, check it with explain, or ask the user to raise --query-timeout-ms.",
  });
