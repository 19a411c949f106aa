import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

/** A running process and its memory. */
export interface Used {
  readonly pid: number;
  readonly parent: number;
  /** Resident. */
  readonly bytes: number;
}

/** A process and its descendants; empty on Windows, which has no cheap way to list them. */
export async function familyOf(pid: number): Promise<Used[]> {
  const all = process.platform === "linux" ? fromProc() : process.platform === "win32" ? [] : await fromPs();
  const family = all.filter((one) => one.pid === pid);
  for (const { pid: parent } of family) family.push(...all.filter((one) => one.parent === parent));
  return family;
}

const PAGE_BYTES = 4_096;

/** proc(5): `pid (name) state ppid …`, the resident pages are field 24; the name may contain anything. */
function fromProc(): Used[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return { pid: Number(name), parent: Number(fields[1]), bytes: Number(fields[21]) * PAGE_BYTES };
    } catch {
      // It has ended.
      return [];
    }
  });
}

/** Ends a process at once; a negative id means its group. */
export function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

async function fromPs(): Promise<Used[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,rss="]).catch(() => ({
    stdout: "",
  }));
  return stdout.split("\n").map((line) => {
    const [pid = 0, parent = 0, kilobytes = 0] = line.trim().split(/\s+/).map(Number);
    return { pid, parent, bytes: kilobytes * 1_024 };
  });
}
