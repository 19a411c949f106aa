import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync, writeFileSync } from "node:fs";
import type { ToolError } from "@refmcp/boundary/answer";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning, type Scratch, scratch } from "../../../test/fixture.ts";
import { type GitRun, runGit } from "./run-git.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.dispose());

/** Runs a shell script instead of git; returns its output as it arrives. */
const run = (script: string, heard: (text: string) => void) =>
  runGit({
    program: "/bin/sh",
    args: ["-c", script],
    cwd: place.folder,
    env: { PATH: process.env.PATH ?? "" },
    signal: new AbortController().signal,
    onStdout(chunk) {
      heard(chunk.toString());
      return true;
    },
  });
const until = (file: string) => `while [ ! -e ${file} ]; do sleep 0.02; done`;

// Windows has no /bin/sh.
describe.skipIf(process.platform === "win32")(
  "runGit, when git has ended but its child has not",
  () => {
    it("returns what was written while this process was busy", async () => {
      let said = "";
      // As on a busy machine: once the exit is known, this process is blocked until the child has written and the time to
      // linger is over. Then timers run first, and pipes are read only after them.
      const block = (message: unknown) => {
        (message as { process: ChildProcess }).process.once("exit", () =>
          setImmediate(() => {
            writeFileSync(place.path("go"), "");
            while (!existsSync(place.path("written"))) pause(10);
            pause(700);
          }),
        );
      };
      subscribe("child_process", block);
      try {
        await run(`(${until("go")}; echo late; touch written; sleep 600) & echo early`, (text) => {
          said += text;
        });
      } finally {
        unsubscribe("child_process", block);
      }
      expect(said).toBe("early\nlate\n");
    });

    it.runIf(process.platform === "linux")(
      "does not wait for a process that left its group",
      async () => {
        let said = "";
        await run("setsid sleep 600 & echo $!", (text) => {
          said += text;
        });
        expect(isRunning(Number(said))).toBe(true);
        process.kill(Number(said), "SIGKILL");
      },
    );

    it("ends a silent child without waiting for it", async () => {
      let said = "";
      await run("sleep 600 & echo $!", (text) => {
        said += text;
      });
      await expect.poll(() => isRunning(Number(said))).toBe(false);
    });
  },
);

describe.skipIf(process.platform === "win32")("runGit", () => {
  const start = (script: string, more: Partial<GitRun> = {}) =>
    runGit({
      program: "/bin/sh",
      args: ["-c", script],
      cwd: place.folder,
      env: { PATH: process.env.PATH ?? "" },
      signal: new AbortController().signal,
      ...more,
    });

  it("passes bytes both ways, byte for byte, and the exit code", async () => {
    const input = randomBytes(3_000_000);
    const { stdout, code, stderr } = await start("cat; echo warned >&2; exit 7", { input });
    expect(stdout.equals(input)).toBe(true);
    expect({ code, stderr }).toEqual({ code: 7, stderr: "warned\n" });
    expect(await start("cat")).toMatchObject({ code: 0, cut: false });
    expect((await start("cat", { input: "" })).stdout).toHaveLength(0);
    expect((await start("kill -9 $$")).code).toBe(128);
  });

  it("keeps 40 concurrent runs apart", async () => {
    const runs = Array.from({ length: 40 }, (_, index) =>
      start(`cat; echo ${index} >&2; exit ${index}`, {
        input: `in ${index}`,
        env: { GIT_X: `${index}` },
      }),
    );
    for (const [index, { stdout, stderr, code }] of (await Promise.all(runs)).entries())
      expect([stdout.toString(), stderr, code]).toEqual([`in ${index}`, `${index}\n`, index]);
  });

  it("ends with all its child processes when the call ends", async () => {
    const call = new AbortController();
    let said = "";
    const running = start("trap '' TERM; (trap '' TERM; sleep 600) & echo $! $$; wait; sleep 600", {
      signal: call.signal,
      onStdout(chunk) {
        said += chunk.toString();
        if (said.includes("\n")) call.abort(new Error("enough"));
        return true;
      },
    });
    await expect(running).rejects.toThrow("enough");
    for (const pid of said.trim().split(" "))
      await expect.poll(() => isRunning(Number(pid))).toBe(false);
    await expect(start("true", { signal: call.signal })).rejects.toThrow("enough");
  });

  it("explains why git could not be started", async () => {
    const code = (more: Partial<GitRun>) =>
      start("true", more).catch((error: ToolError) => error.code);
    expect(await code({ program: place.path("none") })).toBe("git_missing");
    expect(await code({ cwd: place.path("none") })).toBe("git_missing");
    expect(await code({ args: ["-c", "true", "x".repeat(3_000_000)] })).toBe("too_large");
    expect(await code({ args: ["-c", "a\0b"] })).toBe("bad_argument");
  });
});

/** Blocks this thread. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
