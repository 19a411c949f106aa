import { readdirSync, readFileSync } from "node:fs";

/** A process of this machine, from Linux's /proc. */
interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly command: string;
}

function entryOf(pid: number): Entry | undefined {
  try {
    // proc(5): `pid (name) state ppid …`; the name may contain anything.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return { pid, parent: Number(parent), state, command };
  } catch {
    return undefined;
  }
}

/** Whether a process is running; on Linux, a zombie (state Z) is not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^[ZX]/.test(entryOf(pid)?.state ?? "");
}

/** All processes below one, with their command lines. */
export function descendantsOf(pid: number): Entry[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => entryOf(Number(name)) ?? []);
  const below = (parent: number): Entry[] =>
    all.filter((entry) => entry.parent === parent).flatMap((entry) => [entry, ...below(entry.pid)]);
  return below(pid);
}
