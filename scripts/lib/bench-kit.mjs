// What benchmarks share: peers from npm, a raw client over stdio, medians and tables.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { NODES, nodeProgram, npmPackages } from "./npm-programs.mjs";

/** Servers to compare with, which the workspace doesn't depend on. */
export { npmPackages as peers } from "./npm-programs.mjs";

/** @typedef {{ title: string, columns: string[], rows: string[][], notes?: string[] }} Table */
/** @typedef {(table: Table) => void} Report adds a table to a benchmark's page */
/** @typedef {{ content: { type: string, text: string }[], structuredContent: Record<string, any>, isError?: boolean }} Result */
/** @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv }} ProcessOptions */

/** DBHub needs Node.js 22.5, so SQL servers are compared on a newer Node.js than the oldest one. */
const DBHUB = "1.4.0";
const NODE = 24;

/**
 * What SQL servers are compared with and on.
 *
 * @returns {Promise<{ node: string, version: string, dbhub: (dsn: string) => string[], notes: string[] }>} the program of the
 *   Node.js for all servers, DBHub's version, the command that starts it, and what a table says about both
 */
export async function sqlPeer() {
  const { program: node } = await nodeProgram(NODE);
  const entry = (await npmPackages({ "@bytebase/dbhub": DBHUB }))("@bytebase/dbhub/dist/index.js");
  return {
    node,
    version: DBHUB,
    dbhub: (dsn) => [node, entry, "--transport", "stdio", "--dsn", dsn],
    notes: [
      `DBHub ${DBHUB} needs Node.js 22.5 or newer: all servers run on Node.js ${NODES[NODE]}, the driver alone in the benchmark's process on ${process.versions.node}. At the start, ${figure(loadavg()[0])} processes wanted one of ${availableParallelism()} cores.`,
    ],
  };
}

/**
 * Runs a command; resolves with its stdout, rejects if it fails.
 *
 * @type {(program: string, args: readonly string[], options?: ProcessOptions & { timeout?: number }) => Promise<string>}
 */
export function command(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32",
      ...options,
    });
    let output = "";
    let errors = "";
    child.stdout?.on("data", (chunk) => (output += chunk));
    child.stderr?.on("data", (chunk) => (errors += chunk));
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${program} ${args.join(" ")}: ${errors}`)),
    );
  });
}

/** A server process and a client with minimal overhead: it writes and reads lines. */
export class RawClient {
  #next = 1;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();

  /**
   * @param {readonly string[]} argv the command and its arguments
   * @param {ProcessOptions} [options]
   */
  constructor(argv, options = {}) {
    this.started = performance.now();
    const [program = "", ...args] = argv;
    this.child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], ...options });
    let said = "";
    this.child.stderr
      .setEncoding("utf8")
      .on("data", (text) => (said = (said + text).slice(-2_000)));
    this.bytes = 0;
    this.child.stdout.on("data", (chunk) => (this.bytes += chunk.length));
    createInterface({ input: this.child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on(
      "line",
      (line) => {
        const message = JSON.parse(line);
        // A question from the server: benchmarks have no roots and no user.
        if (message.method !== undefined && message.id !== undefined) {
          this.#write({
            jsonrpc: "2.0",
            id: message.id,
            result: message.method === "roots/list" ? { roots: [] } : { action: "decline" },
          });
          return;
        }
        const waiting = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        if (message.error) waiting?.reject(new Error(JSON.stringify(message.error)));
        else waiting?.resolve(message.result);
      },
    );
    this.child.on("close", () => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`the server ended: ${argv.join(" ")}\n${said}`));
    });
  }

  /** @param {object} message */
  #write(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** @type {(method: string, params?: object) => Promise<any>} */
  request(method, params = {}) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#write({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Opens the connection as a legacy client; resolves with the milliseconds from spawn to the first answer. */
  async initialize() {
    await this.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1.0.0" },
    });
    const took = performance.now() - this.started;
    this.#write({ jsonrpc: "2.0", method: "notifications/initialized" });
    return took;
  }

  /** Calls a tool; rejects if it failed. @type {(name: string, args?: object) => Promise<Result>} */
  async call(name, args = {}) {
    const result = await this.request("tools/call", { name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content).slice(0, 300)}`);
    return result;
  }

  /** Calls a tool `total` times, `lanes` at a time. @type {(total: number, name: string, args?: object, lanes?: number) => Promise<unknown>} */
  inLanes(total, name, args = {}, lanes = 64) {
    let sent = 0;
    const lane = async () => {
      while (sent++ < total) await this.call(name, args);
    };
    return Promise.all(Array.from({ length: lanes }, lane));
  }

  /** Resident memory now and at its peak, in MB; undefined off Linux. */
  async memory() {
    const status = await readFile(`/proc/${this.child.pid}/status`, "utf8").catch(() => "");
    /** @param {string} key */
    const mb = (key) =>
      Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / 1000;
    return { now: mb("VmRSS"), peak: mb("VmHWM") };
  }

  /** Processor time that the server has used, in milliseconds; NaN off Linux. */
  cpu() {
    return processorTime(this.child.pid);
  }

  async close() {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 10_000);
    await gone;
    clearTimeout(timer);
  }
}

/** Processor time of a process's main thread, in milliseconds; NaN off Linux. @param {number | undefined} pid */
export async function mainThreadTime(pid) {
  const text = await readFile(`/proc/${pid}/task/${pid}/schedstat`, "utf8").catch(() => "");
  return Number(text.split(" ", 1)[0] || Number.NaN) / 1e6;
}

/**
 * Processor time of a process and its threads, in milliseconds with a resolution of 10; NaN off Linux.
 *
 * @param {number | undefined} pid
 */
export async function processorTime(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
  return (Number(user) + Number(system)) * 10;
}

/**
 * Runs `work` several times after one warm-up; returns its durations in milliseconds, or the numbers that it returns.
 *
 * @type {(count: number, work: () => unknown, warmups?: number) => Promise<number[]>}
 */
export async function times(count, work, warmups = 1) {
  const times = [];
  for (let run = -warmups; run < count; run++) {
    const started = performance.now();
    const own = await work();
    const took = typeof own === "number" ? own : performance.now() - started;
    if (run >= 0) times.push(took);
  }
  return times.sort((a, b) => a - b);
}

/**
 * The same for several alternately, A B A B …, so that changes in the machine's speed do not favor one.
 *
 * @template {string} Name
 * @param {number} count
 * @param {Readonly<Record<Name, () => unknown>>} works
 */
export async function inTurn(count, works, warmups = 1) {
  const names = /** @type {Name[]} */ (Object.keys(works));
  const none = names.map((name) => /** @type {[Name, number[]]} */ ([name, []]));
  const times = /** @type {Record<Name, number[]>} */ (Object.fromEntries(none));
  for (let run = -warmups; run < count; run++) {
    for (const name of names) {
      const started = performance.now();
      const own = await works[name]();
      if (run >= 0) times[name].push(typeof own === "number" ? own : performance.now() - started);
    }
  }
  for (const name of names) times[name].sort((a, b) => a - b);
  return times;
}

/** NaN if nothing was measured. @type {(sorted: readonly number[] | undefined) => number} */
export const median = (sorted) => sorted?.[sorted.length >> 1] ?? Number.NaN;

/** NaN if nothing was measured. @type {(sorted: readonly number[] | undefined) => number} */
export const minimum = (sorted) => sorted?.[0] ?? Number.NaN;

/**
 * What a program and ours take to import and export a million rows.
 *
 * @typedef {object} Transfers
 * @property {(whose: "theirs" | "ours") => unknown} empty empties the table before an import
 * @property {Record<"import" | "export", { theirs: () => unknown, ours: () => unknown }>} works
 * @property {() => unknown} close
 */

/**
 * Measures a program and ours in turn on a CSV file of 51 MB: a key, a text, a number, and a text that may be missing.
 *
 * @param {string} program
 * @param {string[]} notes
 * @param {(files: { folder: string, csv: string, out: string }) => Promise<Transfers>} open
 * @returns {Promise<Table>}
 */
export async function transferTable(program, notes, open) {
  const title =
    "A million rows from and to a CSV file of 51 MB, in milliseconds (minimum / median)";
  const version = await command(program, ["--version"]).catch(() => "");
  if (version === "")
    return { title, columns: ["", ""], rows: [["not measured", `no ${program} here`]] };
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-transfers-"));
  const files = { folder, csv: join(folder, "items.csv"), out: join(folder, "out.csv") };
  const file = createWriteStream(files.csv);
  file.write("id,name,price,note\n");
  for (let id = 1; id <= 1_000_000; id++) {
    const line = `${id},item number ${id},${id * 0.25},${id % 3 === 0 ? "" : `a note on ${id}`}\n`;
    if (!file.write(line)) await once(file, "drain");
  }
  await new Promise((resolve) => file.end(resolve));
  const { empty, works, close } = await open(files);
  try {
    const rows = [];
    for (const way of /** @type {const} */ (["import", "export"])) {
      const timed = (/** @type {"theirs" | "ours"} */ whose) => async () => {
        await (way === "import" ? empty(whose) : rm(files.out, { force: true }));
        const started = performance.now();
        await works[way][whose]();
        return performance.now() - started;
      };
      const times = await inTurn(3, { theirs: timed("theirs"), ours: timed("ours") });
      const both = [times.theirs, times.ours].map(
        (list) => `${figure(minimum(list))} / ${figure(median(list))}`,
      );
      rows.push([
        way,
        ...both,
        [minimum, median].map((of) => ratio(of(times.ours) / of(times.theirs))).join(" / "),
      ]);
    }
    const name = /\d+\.[\d.]+/.exec(version)?.[0];
    return {
      title,
      columns: ["", `${program} ${name}`, "ours, over stdio, default limits", "ratio"],
      rows,
      notes,
    };
  } finally {
    await close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Listens on a free port of 127.0.0.1, which it returns. @param {import("node:net").Server} server */
export async function listen(server) {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return /** @type {import("node:net").AddressInfo} */ (server.address()).port;
}

/** 12.3456 → "12.3", 1234.5 → "1,235". @param {number | undefined} value */
export function figure(value) {
  if (value === undefined || Number.isNaN(value)) return "–";
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** "0.41x". @param {number} value */
export const ratio = (value) =>
  Number.isFinite(value) ? `${value >= 10 ? value.toFixed(0) : value.toFixed(2)}x` : "–";
