import { existsSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning, type Scratch, scratch } from "../../../test/fixture.ts";
import { runGit, together } from "./run-git.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.dispose());

/** Runs a shell script in the place of git; what it says, as it comes. */
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
describe.skipIf(process.platform === "win32")("runGit, when git has ended and a child of it has not", () => {
  it("gives what was written while this process had no time to read it", async () => {
    let said = "";
    const running = run(
      `(${until("go")}; echo late; touch written; sleep 600) & echo early $$; ${until("seen")}`,
      (text) => {
        said += text;
        writeFileSync(place.path("seen"), "");
      },
    );
    await expect.poll(() => isRunning(Number(/^early (\d+)\n/.exec(said)?.[1] ?? process.pid))).toBe(false);
    // As on a busy machine: until its child has written, and the time to linger is over, nothing is done here. Timers
    // come next then, and pipes only after them.
    await new Promise<void>((resolve) => setImmediate(resolve));
    writeFileSync(place.path("go"), "");
    while (!existsSync(place.path("written"))) pause(10);
    pause(700);
    await running;
    expect(said).toMatch(/^early \d+\nlate\n$/);
  });

  it("ends a child that is silent, and does not wait for it", async () => {
    let said = "";
    await run("sleep 600 & echo $!", (text) => {
      said += text;
    });
    await expect.poll(() => isRunning(Number(said))).toBe(false);
  });
});

it.skipIf(process.platform === "win32")(
  "work side by side ends before the failure of a part is told",
  async () => {
    let said = "";
    const slow = run("sleep 0.2; echo done", (text) => {
      said += text;
    });
    await expect(together([Promise.reject(new Error("a part")), slow])).rejects.toThrow("a part");
    expect(said).toBe("done\n");
  },
);

/** Holds up this thread. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
