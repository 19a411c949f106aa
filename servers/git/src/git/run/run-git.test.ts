import { randomBytes } from "node:crypto";
import type { ToolError } from "@refmcp/boundary/answer";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning, type Scratch, scratch } from "../../../test/fixture.ts";
import { type GitRun, runGit } from "./run-git.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.dispose());

// Windows has no /bin/sh.
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
