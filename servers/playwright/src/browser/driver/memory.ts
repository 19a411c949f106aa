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

function fromProc(): Used[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return usedOf(Number(name), readFileSync(`/proc/${name}/status`, "latin1"));
    } catch {
      // It has ended.
      return [];
    }
  });
}

/** Reads proc_pid_status(5), in kB: the pages of `stat` have 4, 16 or 64 KiB, depending on the kernel. */
export function usedOf(pid: number, status: string): Used {
  const field = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
  return { pid, parent: field("PPid"), bytes: field("VmRSS") * 1_024 };
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
