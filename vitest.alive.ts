import {
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Each run's folder is named for its process: several tasks run in a package at once. */
const RUNS = join(process.cwd(), ".refmcp", "alive");
/** In the run's own process: each worker's file is named for its process and contains the test that it runs. */
const FOLDER = join(RUNS, String(process.pid));
const BEAT_MS = 1_000;

/** In a worker: shows once a second that it runs, which a worker in an endless loop can't. */
export class Heartbeat {
  readonly #file = join(RUNS, String(process.ppid), String(process.pid));
  /** Stays open: a test may give up the right to open it. */
  readonly #descriptor: number;
  test = "(loading a file)";

  constructor() {
    mkdirSync(dirname(this.#file), { recursive: true });
    this.#descriptor = openSync(this.#file, "w");
    this.beat();
    setInterval(() => this.beat(), BEAT_MS).unref();
    process.once("exit", () => rmSync(this.#file, { force: true }));
  }

  /** With the test's name, so that it is known which one doesn't return. */
  beat(test = this.test): void {
    this.test = test;
    ftruncateSync(this.#descriptor);
    writeSync(this.#descriptor, test, 0);
  }
}

/** Forgets this run's workers, or at its start those of an earlier run whose process had the same number. */
export function forgetWorkers(): void {
  // A worker may write once more in between.
  rmSync(FOLDER, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

/**
 * Kills each worker that has not shown a sign of life for some time, since no time limit ends a test that blocks its process.
 *
 * @returns the tests that they ran.
 */
export function killBlockedWorkers(silentMs: number): string[] {
  const tests: string[] = [];
  for (const name of readFolder()) {
    const file = join(FOLDER, name);
    const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs < silentMs) continue;
    const test = readFileSync(file, "utf8");
    rmSync(file);
    if (kill(Number(name))) tests.push(test);
  }
  return tests;
}

/** Whether there was such a process: one that was ended by a signal could not remove its file. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

function readFolder(): string[] {
  try {
    return readdirSync(FOLDER);
  } catch {
    return [];
  }
}
