import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { signalTree } from "@refmcp/boundary/process-tree";
import { hold, ownsGroup } from "./run-git.ts";

/** How git is started for a repository, and what that depends on: another state needs another process. */
interface Kept {
  /** Identifies the repository. */
  readonly place: string;
  readonly state: string;
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** An object; with its content if that was requested. */
interface Found {
  readonly oid: string;
  readonly type: string;
  readonly size: number;
  readonly content: Buffer | undefined;
}

/** The objects in the order of the request, undefined for an unknown name, and what git printed on stderr. */
interface Answer {
  readonly found: readonly (Found | undefined)[];
  readonly stderr: string;
}

interface Batch {
  readonly what: "info" | "contents";
  readonly names: readonly string[];
  readonly found: (Found | undefined)[];
  stderr: string;
  done(answer: Answer | undefined): void;
}

/** The largest content that is read through a kept process; larger objects are streamed from a separate process. */
export const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_PROCESSES = 8;
/** On Windows nobody can delete a pack or directory that a process has open. */
const IDLE_MS = process.platform === "win32" ? 5_000 : 60_000;
const MAX_LINE_BYTES = 64 * 1024;

/** One process for each repository, least recently used first. */
const kept = new Map<string, CatFile>();

/**
 * Looks objects up through the repository's `git cat-file --batch-command`, which is started if there is none in this state.
 * Names must not contain line breaks.
 *
 * @returns undefined if the process can't answer: it died, its output was not as expected, or an object is too large. The caller
 * then runs git as usual, which reports what is wrong.
 * @throws the signal's reason
 */
export function askKept(
  how: Kept,
  what: Batch["what"],
  names: readonly string[],
  signal: AbortSignal,
): Promise<Answer | undefined> {
  signal.throwIfAborted();
  let process = kept.get(how.place);
  if (process?.state !== how.state) {
    process?.retire();
    try {
      process = new CatFile(how);
    } catch {
      return Promise.resolve(undefined);
    }
  }
  kept.delete(how.place);
  kept.set(how.place, process);
  const [oldest] = kept.values();
  if (kept.size > MAX_PROCESSES) oldest?.retire();
  return process.ask(what, names, signal);
}

/** Ends all kept processes; calls that are waiting for one run git as usual. */
export function endKept(): void {
  for (const process of kept.values()) process.end();
}

/** A process that answers one batch after another. Any doubt about its output ends it. */
class CatFile {
  readonly state: string;
  readonly #place: string;
  readonly #child: ChildProcess;
  readonly #queue: Batch[] = [];
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes that the next part of an answer has at least. */
  #needed = 0;
  #isRetired = false;
  #isEnded = false;
  #idle: NodeJS.Timeout | undefined;

  constructor({ place, state, program, cwd, env }: Kept) {
    this.#place = place;
    this.state = state;
    const child = spawn(program, ["cat-file", "--batch-command"], {
      cwd,
      env,
      stdio: "pipe",
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    const end = () => this.end();
    child.on("error", end);
    child.on("close", end);
    child.on("exit", end);
    child.stdin.on("error", end);
    child.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      const [batch] = this.#queue;
      if (batch !== undefined)
        batch.stderr = (batch.stderr + chunk.toString("utf8")).slice(0, MAX_LINE_BYTES);
    });
    if (ownsGroup(child)) child.once("close", hold(child, end));
    else end();
  }

  ask(
    what: Batch["what"],
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        reject(signal.reason);
        const at = this.#queue.indexOf(batch);
        // git can't be told to stop: what it prints from now on would belong to nobody.
        if (at === 0) this.end();
        else this.#queue.splice(at, 1);
      };
      const batch: Batch = {
        what,
        names,
        found: [],
        stderr: "",
        done: (answer) => {
          signal.removeEventListener("abort", onAbort);
          resolve(answer);
        },
      };
      if (this.#isEnded) return resolve(undefined);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#queue.push(batch);
      if (this.#queue.length === 1) this.#send(batch);
    });
  }

  /** Ends the process once it has answered what it was asked. */
  retire(): void {
    this.#forget();
    this.#isRetired = true;
    if (this.#queue.length === 0) this.end();
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#forget();
    clearTimeout(this.#idle);
    signalTree(this.#child, "SIGKILL");
    this.#keepAlive(false);
    for (const batch of this.#queue.splice(0)) batch.done(undefined);
  }

  #forget(): void {
    if (kept.get(this.#place) === this) kept.delete(this.#place);
  }

  #send({ what, names }: Batch): void {
    clearTimeout(this.#idle);
    this.#keepAlive(true);
    this.#child.stdin?.write(names.map((name) => `${what} ${name}\n`).join(""));
  }

  /** A process that waits for requests doesn't keep this one running. */
  #keepAlive(isBusy: boolean): void {
    for (const part of [this.#child, ...this.#child.stdio])
      if (part instanceof Socket || part === this.#child) isBusy ? part.ref() : part.unref();
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed || this.#isEnded) return;
    let bytes = Buffer.concat(this.#chunks);
    this.#needed = 0;
    const [batch] = this.#queue;
    let read = 1;
    while (read > 0 && bytes.length > 0) {
      read =
        batch === undefined || batch.found.length === batch.names.length
          ? -1
          : this.#take(batch, bytes);
      bytes = bytes.subarray(Math.max(0, read));
    }
    this.#chunks = bytes.length === 0 ? [] : [bytes];
    this.#length = bytes.length;
    if (read < 0) this.end();
    // What git printed on stderr before its answer has arrived as well, and is read in this turn of the event loop.
    if (batch?.found.length === batch?.names.length) setImmediate(() => this.#finish(batch));
  }

  /** Reads one object; returns its length, 0 if it is incomplete, and -1 if it is not an answer to the request. */
  #take({ what, names, found }: Batch, bytes: Buffer): number {
    const end = bytes.indexOf(10);
    if (end === -1) return bytes.length > MAX_LINE_BYTES ? -1 : 0;
    const line = bytes.subarray(0, end);
    const [, oid, type, size] =
      /^([0-9a-f]{40,64}) ([a-z]+) (\d+)$/.exec(line.toString("latin1")) ?? [];
    if (oid === undefined || type === undefined) {
      const isUnknown = ["missing", "ambiguous"].some((why) =>
        line.equals(Buffer.from(`${names[found.length]} ${why}`)),
      );
      found.push(undefined);
      return isUnknown ? end + 1 : -1;
    }
    const object = { oid, type, size: Number(size), content: undefined };
    if (what === "info") {
      found.push(object);
      return end + 1;
    }
    const start = end + 1;
    const after = start + object.size + 1;
    if (object.size > MAX_KEPT_BYTES) return -1;
    if (bytes.length < after) {
      this.#needed = after;
      return 0;
    }
    // A copy, because the chunk may have much more.
    found.push({ ...object, content: Buffer.from(bytes.subarray(start, start + object.size)) });
    return bytes[start + object.size] === 10 ? after : -1;
  }

  #finish(batch: Batch | undefined): void {
    if (batch === undefined || this.#queue[0] !== batch) return;
    this.#queue.shift();
    batch.done(batch);
    const [next] = this.#queue;
    if (next !== undefined) this.#send(next);
    else if (this.#isRetired) this.end();
    else {
      this.#keepAlive(false);
      this.#idle = setTimeout(() => this.end(), IDLE_MS).unref();
    }
  }
}
