import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { signalTree } from "./process-tree.ts";

/** A process on Windows, and the programs that were started to end it. */
function onWindows(exitCode: number | null) {
  const started: unknown[][] = [];
  const taskkill = new EventEmitter();
  const kill = vi.fn(() => true);
  const start = ((...args: unknown[]) => {
    started.push(args);
    return taskkill;
  }) as unknown as typeof spawn;
  signalTree({ pid: 4711, exitCode, kill }, "SIGKILL", { platform: "win32", start });
  return { started, taskkill, kill };
}

describe("signalTree", () => {
  it("ends all descendants on Windows, by the system's own program", () => {
    const { started, kill } = onWindows(null);
    expect(started).toEqual([
      [
        expect.stringMatching(/^[A-Z]:\\.*\\System32\\taskkill\.exe$/i),
        ["/T", "/F", "/PID", "4711"],
        { stdio: "ignore", windowsHide: true },
      ],
    ]);
    expect(kill).not.toHaveBeenCalled();
  });

  it("ends at least the process itself where taskkill cannot be started", () => {
    const { taskkill, kill } = onWindows(null);
    taskkill.emit("error", new Error("ENOENT"));
    expect(kill).toHaveBeenCalledOnce();
  });

  it("leaves a number alone on Windows that may belong to another process by now", () => {
    expect(onWindows(0).started).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("ends the whole group elsewhere", async () => {
    const code = `
      const { spawn } = require("node:child_process");
      spawn(process.execPath, ["-e", "console.log('started'); setInterval(() => {}, 1000)"], { stdio: "inherit" });
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
    await once(child.stdout, "data");
    signalTree(child, "SIGKILL");
    // The output ends with the last process that holds it.
    await once(child, "close");
    expect(child.signalCode).toBe("SIGKILL");
  });
});
