import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isLong } from "../../../../vitest.long.ts";
import { makeWorkspace, readThrough, type Workspace } from "../../test/fixtures/boundary.ts";
import { ToolError } from "../answer/errors.ts";
import type { PathGuard } from "./path-guard.ts";

const swapperScript = fileURLToPath(new URL("../../test/fixtures/swapper.mjs", import.meta.url));

/** `npm test` runs a tenth. */
const LESS = isLong ? 1 : 10;

/** In memory if possible, since every write goes to the disk twice. */
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

describe("while another process swaps links", LESS === 1 ? { timeout: 600_000 } : {}, () => {
  let workspace: Workspace;
  let guard: PathGuard;
  let swapper: ChildProcessWithoutNullStreams;
  beforeEach(async () => {
    workspace = await makeWorkspace(place);
    guard = workspace.guard("proc");
    await mkdir(join(workspace.root, "directory"));
    await writeFile(join(workspace.root, "directory", "secret.txt"), "INSIDE");
    await writeFile(join(workspace.root, "file"), "INSIDE");
  });
  afterEach(async () => {
    swapper.kill("SIGKILL");
    await workspace.remove();
  });

  /**
   * Runs `attempt` many times while the file or directory at `what` is swapped with a link that leads outside; it may
   * only succeed or be refused with a ToolError. On a busy machine the other process may hardly run, so attempts are
   * repeated until both states have occurred: otherwise the test proves nothing.
   */
  async function tries(
    what: "file" | "directory",
    count: number,
    attempt: (index: number) => Promise<unknown>,
  ): Promise<void> {
    const target = what === "file" ? workspace.secret : workspace.outside;
    swapper = spawn(process.execPath, [swapperScript, what, join(workspace.root, what), target]);
    swapper.stderr.on("data", (text) => expect.fail(`The swapper died: ${text}`));
    const lines = createInterface({ input: swapper.stdout })[Symbol.asyncIterator]();
    await lines.next();
    const outcome = { done: 0, outside: 0, otherwise: 0 };
    const hasMetBoth = () => outcome.done > count / 1000 && outcome.outside > count / 100;
    for (let index = 0; index < count || (!hasMetBoth() && index < 30 * count); index++) {
      try {
        await attempt(index);
        outcome.done += 1;
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        outcome[error.code === "outside" ? "outside" : "otherwise"] += 1;
      }
    }
    swapper.stdin.end();
    const { value: swaps } = await lines.next();
    expect(Number(swaps)).toBeGreaterThan(count / 10);
    expect(hasMetBoth(), JSON.stringify(outcome)).toBe(true);
  }

  /** No temporary file is left. */
  async function expectTidy(directory: string): Promise<void> {
    expect((await readdir(directory)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  }

  it.each([
    ["file", 10_000 / LESS, "proc"],
    ["directory", 10_000 / LESS, "proc"],
    ["file", 3000 / LESS, "portable"],
    ["directory", 3000 / LESS, "portable"],
  ] as const)(
    "none of the reads through a swapped %s (%d, verified by %s) gets content from outside (CVE-2025-53109)",
    async (what, count, verification) => {
      const guard = workspace.guard(verification);
      const path = what === "file" ? "file" : "directory/secret.txt";
      const seen = new Set<string>();
      await tries(what, count, async () => seen.add(await readThrough(guard, path)));
      expect([...seen]).toEqual(["INSIDE"]);
    },
    120_000,
  );

  const check = async () => {};

  it("no write below a swapped directory gets outside", async () => {
    await tries("directory", 10_000 / LESS, async (index) => {
      if (index % 3 === 0) await guard.createDirectory("directory");
      const path = `directory/file-${index % 50}.txt`;
      await guard.writeFile(path, Buffer.from("WRITTEN"), index % 2 === 0 ? { check } : {});
    });
    await expectTidy(join(workspace.root, "directory"));
  });

  it("no write to a swapped file gets outside", async () => {
    await tries("file", 5000 / LESS, (index) =>
      guard.writeFile("file", Buffer.from("WRITTEN"), index % 2 === 0 ? { check } : {}),
    );
    await expectTidy(workspace.root);
  });

  it("no new directory, move or removal below a swapped directory gets outside", async () => {
    await tries("directory", 6000 / LESS, async (index) => {
      const name = `directory/${index % 30}`;
      if (index % 3 === 0) {
        await guard.createDirectory(`${name}/deep`);
      } else if (index % 3 === 1) {
        await writeFile(join(workspace.root, "moved"), "MOVED");
        await guard.move("moved", `${name}-${index}`);
      } else {
        const doomed = await guard.place("directory/secret.txt", { write: true });
        await rm(doomed.entry, { force: true }).finally(() => doomed.parent.close());
      }
    });
  });
});
