import { readSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { ToolError } from "@refmcp/boundary/answer";
import { loadSqlite } from "@refmcp/sql/native";
import { jobsOf } from "./execute.ts";
import {
  type Answers,
  FrameReader,
  frameOf,
  type Message,
  PIPE,
  type Reply,
  type Work,
  workId,
} from "./frames.ts";
import type { Progress } from "./handle.ts";

/** What the watchdog's shared memory has: the job that runs, 0 for none, negative once it is reported; always 0. */
const RUNNING = 0;
const PAUSE = 1;

/**
 * Watches the jobs from a thread, since the main thread is blocked while SQLite runs. Reports a job if it is running 20 to
 * 40 ms after its frame began. Ends the process if it exceeds its memory limit, after a line on stderr for the server, and if the
 * server has died. Between jobs the thread sleeps: the main thread sees the end of the server itself.
 */
const WATCHDOG = `
const { writeSync } = require("node:fs");
const { max, server, state } = require("node:worker_threads").workerData;
const isAlone = () => {
  if (process.ppid !== server) return true;
  try {
    process.kill(server, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
};
const frameOf = (job) => Math.abs(job) >> 6;
const say = (line) => {
  try {
    writeSync(2, "refmcp: " + line + "\\n");
  } catch {
    // The server has died, and isAlone notices it.
  }
};
while (true) {
  Atomics.wait(state, ${RUNNING}, 0);
  const frame = frameOf(Atomics.load(state, ${RUNNING}));
  // Nothing wakes this one: it only takes the time.
  Atomics.wait(state, ${PAUSE}, 0, 20);
  const job = Atomics.load(state, ${RUNNING});
  if (job === 0) continue;
  const isLarge = process.memoryUsage.rss() >= max;
  const isLong = job > 0 && (isLarge || frameOf(job) === frame);
  if (isLong && Atomics.compareExchange(state, ${RUNNING}, job, -job) === job) say("long " + job);
  if (isLarge) say("memory");
  if (isLarge || isAlone()) process.kill(process.pid, "SIGKILL");
}`;

const state = new Int32Array(new SharedArrayBuffer(8));
const workerData = {
  max: Number(process.argv[2]) * 1_048_576,
  server: Number(process.argv[3]),
  state,
};

/** Answers wait for others of their frame for this time, so that small jobs share a write. */
const FLUSH_MS = 0.1;

/** Node.js releases the memory of sent frames in a turn of the event loop, so there is one after about this many bytes. */
const TURN_BYTES = 1 << 20;
let held = 0;

function send(answers: Answers): void {
  const bytes = frameOf(answers);
  held += bytes.length + 1_024;
  for (let at = 0; at < bytes.length; ) at += writeSync(PIPE, bytes, at);
}

/** Runs the jobs of a frame in order, until one of them was reported as long: the server gives the others to another runner. */
function serve(jobs: ReturnType<typeof jobsOf>, { frame, messages }: Work<never>): void {
  if (messages.length === 0) {
    jobs.rest({});
    return;
  }
  let replies: Reply<unknown>[] = [];
  let first = 0;
  let since = performance.now();
  Atomics.store(state, RUNNING, workId(frame, 0));
  Atomics.notify(state, RUNNING);
  for (const [at, message] of messages.entries()) {
    replies.push(replyOf(jobs, message));
    const mine = workId(frame, at);
    const next = at + 1 < messages.length ? workId(frame, at + 1) : 0;
    if (next === 0 || Atomics.compareExchange(state, RUNNING, mine, next) !== mine) break;
    const now = performance.now();
    if (now - since < FLUSH_MS) continue;
    send({ first, replies, isEnd: false });
    first += replies.length;
    replies = [];
    since = now;
  }
  Atomics.store(state, RUNNING, 0);
  send({ first, replies, isEnd: true });
}

function replyOf(jobs: ReturnType<typeof jobsOf>, { op, job }: Message<never>): Reply<unknown> {
  const progress: Progress = { at: 0, line: undefined };
  try {
    const run: (job: never, progress: Progress) => unknown = jobs[op];
    return { answer: run(job, progress) };
  } catch (error) {
    const { message, code }: { message: string; code?: unknown } =
      error instanceof Error ? error : { message: String(error) };
    return { failed: { message, code: typeof code === "string" ? code : undefined, ...progress } };
  }
}

/** Reads from the server until it ends. Nothing else runs in this thread while it waits. */
function* works(): Generator<Work<never>> {
  const reader = new FrameReader<Work<never>>();
  const buffer = Buffer.allocUnsafe(65_536);
  while (true) {
    let length = 0;
    try {
      length = readSync(PIPE, buffer);
    } catch {
      // On Windows, the end of a pipe is an error.
    }
    if (length === 0) return;
    yield* reader.add(Buffer.from(buffer.subarray(0, length)));
  }
}

try {
  new Worker(WATCHDOG, { eval: true, workerData });
  const jobs = jobsOf(await loadSqlite());
  send({ first: 0, replies: [{ answer: true }], isEnd: true });
  for (const work of works()) {
    serve(jobs, work);
    if (held < TURN_BYTES) continue;
    held = 0;
    await new Promise(setImmediate);
  }
  process.exit();
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  // The server reports this and ends this process.
  const { message, hint, cause } = error;
  send({
    first: 0,
    replies: [{ unavailable: { message, hint, cause: String(cause) } }],
    isEnd: true,
  });
}
