import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Findings } from "./finding.ts";
import {
  type Id,
  Inbox,
  type Json,
  type Link,
  MAX_MESSAGE_BYTES,
  type Reply,
  within,
} from "./link.ts";

/** A server that is started as hosts start it. */
export interface Command {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** The variables that hosts pass on (the official SDKs' default environment), and the folder of temporary files. */
const INHERITED =
  process.platform === "win32"
    ? "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PROCESSOR_ARCHITECTURE PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE"
    : "HOME LOGNAME PATH SHELL TERM TMPDIR USER";

export function hostEnvironment(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.split(" ").flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Lines that are not JSON. */
const MAX_NOISE = 1_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const running = new Set<StdioLink>();

/** For the end of this process, however it ends. */
export function killAll(): void {
  for (const link of running) link.kill();
}

/** A server over pipes. */
export class StdioLink implements Link {
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #inbox: Inbox;
  readonly #findings: Findings;
  readonly #where: string;
  readonly #parts: Buffer[] = [];
  #length = 0;
  #noise = 0;
  #stderr = "";
  #exit: Exit | undefined;
  #isTooLarge = false;

  constructor(target: Command, findings: Findings, era: string) {
    const [program = "", ...args] = target.command;
    this.#inbox = new Inbox(findings, era);
    this.#findings = findings;
    this.#where = era;
    this.#child = spawn(program, args, {
      cwd: target.cwd,
      env: { ...hostEnvironment(), ...target.env },
      // Its own process group, so that it can be ended with all of its children.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    running.add(this);
    this.exited = new Promise((resolve) => {
      const end = (exit: Exit) => {
        this.#exit = exit;
        resolve(exit);
      };
      this.#child.once("error", (error) => {
        this.#stderr += error.message;
        end({ code: 127, signal: null });
      });
      this.#child.once("exit", (code, signal) => end({ code, signal }));
    });
    this.#child.stdin.on("error", () => undefined);
    this.#child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-4_000);
    });
  }

  get strays(): readonly Json[] {
    return this.#inbox.strays;
  }
  get isOpen(): boolean {
    return this.#exit === undefined && !this.#isTooLarge;
  }
  /** The last part of stderr. */
  get stderr(): string {
    return this.#stderr;
  }

  async ask(id: Id, text: string, timeoutMs: number): Promise<Reply> {
    const start = performance.now();
    const ms = () => performance.now() - start;
    let forget = () => {};
    const answered = new Promise<Reply>((resolve) => {
      forget = this.#inbox.wait(id, (message, bytes) => resolve({ message, bytes, ms: ms() }));
    });
    const closed = this.exited.then(
      // What was written before the end is read first.
      () =>
        new Promise<Reply>(
          (resolve) => void setTimeout(resolve, 100, this.#without("closed", ms())),
        ),
    );
    await this.tell(text);
    const reply = await within(timeoutMs, Promise.race([answered, closed]));
    forget();
    return reply ?? this.#without(this.#isTooLarge ? "too large" : "timeout", ms());
  }

  #without(missing: NonNullable<Reply["missing"]>, ms: number): Reply {
    return {
      message: undefined,
      missing: this.#isTooLarge ? "too large" : missing,
      bytes: this.#length,
      ms,
    };
  }

  async tell(text: string | Uint8Array): Promise<void> {
    if (!this.isOpen || !this.#child.stdin.writable) return;
    this.#child.stdin.write(text);
    this.#child.stdin.write("\n");
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0 && !this.#isTooLarge; end = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#parts.splice(0), rest.subarray(0, end)]);
      this.#length = 0;
      rest = rest.subarray(end + 1);
      this.#take(line);
    }
    if (this.#isTooLarge) return;
    this.#parts.push(rest);
    this.#length += rest.length;
    if (this.#length <= MAX_MESSAGE_BYTES) return;
    this.#findings.add(
      "stdout-endless",
      this.#where,
      "",
      `A line with more than ${MAX_MESSAGE_BYTES} bytes.`,
    );
    this.#giveUp();
  }

  /** After more than a host can take. */
  #giveUp(): void {
    this.#isTooLarge = true;
    this.#parts.length = 0;
    this.kill();
  }

  #take(line: Buffer): void {
    const text = line.toString("utf8").replace(/\r$/, "");
    if (text === "") return;
    if (text.includes("\ufffd") && !Buffer.from(text, "utf8").equals(withoutReturn(line)))
      this.#findings.add("stdout-utf8", this.#where, "", text.slice(0, 200));
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.#findings.add("stdout-noise", this.#where, "", text);
      this.#noise += 1;
      if (this.#noise > MAX_NOISE) this.#giveUp();
      return;
    }
    const answer = this.#inbox.take(message, line.length);
    if (answer !== undefined) void this.tell(answer);
  }

  /** Closes stdin, as hosts do, and waits. @returns how it exited, or nothing after the time limit. */
  async end(timeoutMs: number): Promise<Exit | undefined> {
    this.#child.stdin.end();
    return await within(timeoutMs, this.exited);
  }

  async signal(name: NodeJS.Signals, timeoutMs: number): Promise<Exit | undefined> {
    this.#child.kill(name);
    return await within(timeoutMs, this.exited);
  }

  /** Ends the process and its children at once. */
  kill(): void {
    const { pid } = this.#child;
    for (const one of this.processes()) killed(one.pid);
    if (pid === undefined) return;
    if (process.platform === "win32") this.#child.kill("SIGKILL");
    else killed(-pid);
  }

  async close(): Promise<void> {
    if (!running.has(this)) return;
    this.kill();
    await within(5_000, this.exited);
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
    running.delete(this);
  }

  /** The server's process and its descendants, on Linux. */
  processes(): Process[] {
    const { pid } = this.#child;
    // After the exit, the id may be that of another process.
    const isKnown = pid !== undefined && this.#exit === undefined && process.platform === "linux";
    return isKnown ? descendantsOf(pid) : [];
  }

  /** The processor time of its processes in milliseconds; on Linux. Unlike a clock, it does not depend on other programs. */
  cpuMs(): number | undefined {
    const all = this.processes();
    return all.length === 0 ? undefined : all.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  }

  /** The memory of its largest process in MB, now and at most; on Linux. */
  memory(): { now: number; peak: number } | undefined {
    const sizes = this.processes().map(({ pid }) => {
      const status = readText(`/proc/${pid}/status`);
      const of = (name: string) =>
        Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) / 1024;
      return { now: of("VmRSS"), peak: of("VmHWM") };
    });
    return sizes.sort((a, b) => b.peak - a.peak)[0];
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === 13 ? line.subarray(0, -1) : line;
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Distinguishes it from a later process with the same id. */
  readonly started: string;
  readonly name: string;
  readonly cpuMs: number;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Linux: proc_pid_stat(5). */
function processOf(pid: number): Process | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  const end = stat.lastIndexOf(")");
  if (end < 0) return undefined;
  const fields = stat.slice(end + 2).split(" ");
  if (fields[0] === "Z") return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    started: fields[19] ?? "",
    name: stat.slice(stat.indexOf("(") + 1, end),
    // In hundredths of a second: its own, and that of children which have ended.
    cpuMs: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0),
  };
}

export function isRunning({ pid, started }: Process): boolean {
  return processOf(pid)?.started === started;
}

export function endProcess(one: Process): void {
  if (isRunning(one)) killed(one.pid);
}

function descendantsOf(root: number): Process[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processOf(Number(name)) ?? []);
  const found = all.filter(({ pid }) => pid === root);
  for (const one of found) found.push(...all.filter(({ parent }) => parent === one.pid));
  return found;
}
