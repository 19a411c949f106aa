import { createRequire } from "node:module";
import { Duplex } from "node:stream";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { ToolError } from "@refmcp/core/answer";
import { workerFile } from "@refmcp/core/worker-file";
import { introduce, type Link } from "./link.ts";

/** What the worker says. */
type Said = { readonly ready: true } | { readonly failed: string } | { readonly bytes: Uint8Array };

/**
 * A PostgreSQL in a worker of this process (PGlite: PostgreSQL compiled to WebAssembly), spoken to in PostgreSQL's own
 * protocol. It has one session and no way to cancel a statement, so a statement that must stop takes the worker with it;
 * the next connection starts it again.
 */
export class Embedded {
  readonly #directory: string | undefined;
  #worker: Worker | undefined;

  constructor(directory: string | undefined) {
    this.#directory = directory;
  }

  /** @throws ToolError `unavailable` where PGlite is not installed or the directory is no database of it. */
  async open(): Promise<Link> {
    this.#worker ??= await this.#start();
    const worker = this.#worker;
    const { default: pg } = await import("pg");
    const client = new pg.Client({
      user: "postgres",
      database: "postgres",
      password: "",
      ssl: false,
      stream: () => new WorkerStream(worker, () => this.#stop(worker)),
    });
    client.on("error", () => undefined);
    await client.connect();
    return await introduce(client, undefined);
  }

  async #start(): Promise<Worker> {
    const worker = new Worker(await workerFile("pglite", import.meta.url), {
      name: "pglite",
      workerData: { directory: this.#directory, module: pglite() },
      // What it would print goes nowhere near the protocol's stdout.
      stdout: true,
      stderr: true,
    });
    const said = await new Promise<Said>((resolve) => {
      worker.once("message", resolve);
      worker.on("error", (error) => resolve({ failed: String(error) }));
    });
    if (!("failed" in said)) return worker;
    await worker.terminate();
    throw new ToolError("unavailable", `The embedded database did not start: ${said.failed.slice(0, 300)}.`, {
      hint: "Check the directory of --embedded-dir: it must be empty, or hold an embedded database that no other process uses.",
    });
  }

  async #stop(worker: Worker): Promise<void> {
    if (this.#worker === worker) this.#worker = undefined;
    await worker.terminate();
  }

  /** Ends it in good order. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker === undefined) return;
    const gone = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage("close");
    const timer = setTimeout(() => void worker.terminate(), 1_500);
    await gone;
    clearTimeout(timer);
  }
}

/** @throws ToolError `unavailable` where PGlite is not installed: few need it, and it is large. */
function pglite(): string {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve("@electric-sql/pglite")).href;
  } catch {
    throw new ToolError("unavailable", "--embedded needs PGlite, which is not installed.", {
      hint: "Start the server with npx -y -p @electric-sql/pglite -p @refmcp/server-postgres refmcp-server-postgres --embedded.",
    });
  }
}

/** What pg takes for a socket: bytes go to the worker and come from it. */
class WorkerStream extends Duplex {
  readonly #worker: Worker;
  readonly #onCut: () => void;
  #isIdle = true;

  constructor(worker: Worker, onCut: () => void) {
    super();
    this.#worker = worker;
    this.#onCut = onCut;
    worker.on("message", this.#onMessage);
    worker.once("exit", () => this.destroy());
  }

  readonly #onMessage = (said: Said): void => {
    if (!("bytes" in said)) return;
    this.#isIdle = endsIdle(said.bytes);
    if (said.bytes.length > 0) this.push(Buffer.from(said.bytes));
  };

  /** Part of what pg asks of a socket. */
  connect(): this {
    process.nextTick(() => this.emit("connect"));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // Terminate would end the only session that there is.
    if (chunk[0] !== 0x58) {
      this.#isIdle = false;
      this.#worker.postMessage(new Uint8Array(chunk));
    }
    done();
  }

  override _final(done: (error?: Error | null) => void): void {
    done();
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#worker.off("message", this.#onMessage);
    // A session that is at work would answer the next client.
    if (!this.#isIdle) this.#onCut();
    done(error);
  }
}

/** Whether bytes end with ReadyForQuery outside of a transaction. */
function endsIdle(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(-6)).equals(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]));
}
