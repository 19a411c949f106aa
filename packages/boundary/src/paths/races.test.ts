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

/** The outcomes of the attempts: a refused one found the link, or nothing at the path. */
interface Outcome {
  done: number;
  outside: number;
  otherwise: number;
}

class Swapper {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #errors = "";

  constructor(what: "file" | "directory", path: string, target: string) {
    this.#child = spawn(process.execPath, [swapperScript, what, path, target]);
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async ready(): Promise<void> {
    await this.#lines.next();
  }

  /** @returns the number of swaps */
  async stop(): Promise<number> {
    this.#child.stdin.end();
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`The swapper died:\n${this.#errors}`);
    return Number(value);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

/** `npm test` runs a tenth of what races.long.test.ts runs. */
const LESS = isLong ? 1 : 10;

/** In memory if possible, since every write goes to the disk twice. */
const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

describe("while another process swaps links", LESS === 1 ? { timeout: 600_000 } : {}, () => {
  let workspace: Workspace;
  let guard: PathGuard;
  const swappers: Swapper[] = [];
  beforeEach(async () => {
    workspace = await makeWorkspace(place);
    guard = workspace.guard("proc");
  });
  afterEach(async () => {
    for (const swapper of swappers.splice(0)) swapper.kill();
    await workspace.remove();
  });

  async function swapping(
    what: "file" | "directory",
    name: string,
    target: string,
  ): Promise<Swapper> {
    const swapper = new Swapper(what, join(workspace.root, name), target);
    swappers.push(swapper);
    await swapper.ready();
    return swapper;
  }

  const metBoth = ({ done, outside }: Outcome, count: number) =>
    done > count / 1000 && outside > count / 100;

  /**
   * Runs `attempt` many times; it may only succeed or be refused with a ToolError. On a busy machine the other process
   * may hardly run, so attempts are repeated until both states have occurred.
   */
  async function tries(
    count: number,
    attempt: (index: number) => Promise<unknown>,
  ): Promise<Outcome> {
    const outcome: Outcome = { done: 0, outside: 0, otherwise: 0 };
    for (
      let index = 0;
      index < count || (!metBoth(outcome, count) && index < 30 * count);
      index++
    ) {
      try {
        await attempt(index);
        outcome.done += 1;
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        if (error.code === "outside") outcome.outside += 1;
        else outcome.otherwise += 1;
      }
    }
    return outcome;
  }

  /** The swapper ran all the time, and the attempts found both states; otherwise the test proves nothing. */
  async function expectRealRace(swapper: Swapper, outcome: Outcome, count: number): Promise<void> {
    const swaps = await swapper.stop();
    expect(swaps).toBeGreaterThan(count / 10);
    expect(metBoth(outcome, count), JSON.stringify(outcome)).toBe(true);
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
      await mkdir(join(workspace.root, "directory"));
      await writeFile(join(workspace.root, "directory", "secret.txt"), "INSIDE");
      await writeFile(join(workspace.root, "file"), "INSIDE");
      const swapper = await swapping(
        what,
        what,
        what === "file" ? workspace.secret : workspace.outside,
      );
      const path = what === "file" ? "file" : "directory/secret.txt";
      const seen = new Set<string>();
      const outcome = await tries(count, async () => seen.add(await readThrough(guard, path)));
      await expectRealRace(swapper, outcome, count);
      expect([...seen]).toEqual(["INSIDE"]);
    },
    120_000,
  );

  it("no write below a swapped directory gets outside", async () => {
    const count = 10_000 / LESS;
    await mkdir(join(workspace.root, "directory"));
    const swapper = await swapping("directory", "directory", workspace.outside);
    const outcome = await tries(count, async (index) => {
      if (index % 3 === 0) await guard.createDirectory("directory");
      await guard.writeFile(`directory/file-${index % 50}.txt`, Buffer.from("WRITTEN"), {
        ...(index % 2 === 0 ? { check: async () => {} } : {}),
      });
    });
    await expectRealRace(swapper, outcome, count);
    expect(
      (await readdir(join(workspace.root, "directory"))).filter((name) => name.endsWith(".tmp")),
    ).toEqual([]);
  });

  it("no write to a swapped file gets outside", async () => {
    const count = 5000 / LESS;
    await writeFile(join(workspace.root, "file"), "INSIDE");
    const swapper = await swapping("file", "file", workspace.secret);
    const outcome = await tries(count, (index) =>
      guard.writeFile(
        "file",
        Buffer.from("WRITTEN"),
        index % 2 === 0 ? { check: async () => {} } : {},
      ),
    );
    await expectRealRace(swapper, outcome, count);
    expect((await readdir(workspace.root)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("no new directory, move or removal below a swapped directory gets outside", async () => {
    const count = 6000 / LESS;
    await mkdir(join(workspace.root, "directory"));
    const swapper = await swapping("directory", "directory", workspace.outside);
    const outcome = await tries(count, async (index) => {
      const name = `directory/${index % 30}`;
      if (index % 3 === 0) {
        await guard.createDirectory(`${name}/deep`);
      } else if (index % 3 === 1) {
        await writeFile(join(workspace.root, "moved"), "MOVED");
        await guard.move("moved", name);
      } else {
        const doomed = await guard.place("directory/secret.txt", { write: true });
        try {
          await rm(doomed.entry, { force: true });
        } finally {
          await doomed.parent.close();
        }
      }
    });
    await expectRealRace(swapper, outcome, count);
  });
});
