import { type ChildProcess, spawn } from "node:child_process";
import { LineReader, LineWriter } from "@refmcp/core/internal/transport/stdio/lines";

/** How to start a server. */
export interface Start {
  readonly bin: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** How long a server may take to end after its input has ended, as in its own shutdown. */
const END_MS = 2_500;
/** How long the output of a process that has exited may still arrive; a child process may keep it open. */
const REST_MS = 500;
const MAX_STDERR_CHARS = 2_000;
const MAX_LINE_BYTES = 256 * 1_048_576;

/** One server's process: lines in, lines out, and why it ended. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #writer: LineWriter | undefined;
  readonly #reader = new LineReader(MAX_LINE_BYTES);
  readonly #taken: (line: string) => void;
  readonly #ended: (why: string) => void;
  #stderr = "";
  #hasEnded = false;

  /**
   * Starts the server.
   *
   * @param taken receives each line of its output
   * @param ended is called once when the process is gone, with the reason as a clause: `ended with exit code 2`
   */
  constructor(
    { bin, args, env }: Start,
    taken: (line: string) => void,
    ended: (why: string) => void,
  ) {
    this.#taken = taken;
    this.#ended = ended;
    const child = spawn(process.execPath, [bin, ...args], {
      env,
      stdio: "pipe",
      windowsHide: true,
    });
    this.#child = child;
    child.on("error", (error) => this.#end(`could not be started: ${error.message}`));
    child.on("close", (code, signal) => this.#end(reasonOf(code, signal)));
    child.on("exit", (code, signal) => {
      setTimeout(() => this.#end(reasonOf(code, signal)), REST_MS).unref();
    });
    child.stdout.on("data", this.#onData);
    child.stderr.setEncoding("utf8").on("data", this.#onStderr);
    // An error of these streams comes with the end of the process, which is reported.
    for (const stream of [child.stdout, child.stderr]) stream.on("error", () => undefined);
    this.#writer = new LineWriter(child.stdin, {
      maxQueued: Number.POSITIVE_INFINITY,
      onDrain: () => undefined,
      onBroken: () => undefined,
    });
  }

  /** The id of the process, while it has one. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends a line of JSON. */
  write(json: string): void {
    this.#writer?.write(json);
  }

  /** Ends its input, and resolves when the process is gone; it is killed if it does not end. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#child.kill("SIGKILL"), END_MS);
      this.#child.once("exit", () => {
        clearTimeout(timer);
        resolve();
      });
      this.#child.stdin?.end();
    });
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#reader.push(chunk);
    for (let line = this.#reader.next(); line !== undefined; line = this.#reader.next())
      if (line.kind === "text") this.#taken(line.text);
  };

  /** A server's messages are for the user of this process; the last ones explain its end. */
  readonly #onStderr = (text: string): void => {
    process.stderr.write(text);
    this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_CHARS);
  };

  #end(why: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const last = this.#stderr.trim().split("\n").at(-1) ?? "";
    this.#ended(last === "" ? why : `${why}: ${last}`);
  }
}

function reasonOf(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
}
