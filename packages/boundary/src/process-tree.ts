import { type ChildProcess, spawn } from "node:child_process";
import { win32 } from "node:path";

/** What a test replaces. */
interface System {
  readonly platform?: NodeJS.Platform;
  readonly start?: typeof spawn;
}

/**
 * Signals a process and everything it started: on Windows by ending its descendants with `taskkill`, elsewhere through its
 * process group, which it must lead (`detached: true`). Succeeds if it has already ended.
 */
export function signalTree(
  child: Pick<ChildProcess, "pid" | "exitCode" | "kill">,
  signal: "SIGTERM" | "SIGKILL",
  { platform = process.platform, start = spawn }: System = {},
): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (platform === "win32") {
    // Descendants of a process that has ended can no longer be found, and its number may belong to another one.
    if (child.exitCode !== null) return;
    const options = { stdio: "ignore", windowsHide: true } as const;
    start(systemProgram("taskkill"), ["/T", "/F", "/PID", String(pid)], options).on("error", () =>
      child.kill(),
    );
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}

/** The path of a program of Windows: by its name alone, one in the working directory would be found first. */
function systemProgram(name: string): string {
  return win32.join(process.env.SystemRoot ?? "C:\\Windows", "System32", `${name}.exe`);
}
