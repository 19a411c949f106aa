import { existsSync, readFileSync, statSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { rgPath } from "@vscode/ripgrep";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { makeTree, type Tree } from "../../../test/tree.ts";
import { IgnoreScope } from "../glob/ignore-scope.ts";
import { locateByRipgrep } from "./find-by-ripgrep.ts";
import type { Locate, Located } from "./find-files.ts";
import { ScanPool } from "./scan-pool.ts";
import { textPattern } from "./text-pattern.ts";

const instead: Locate = async (_, found) => found({ path: "instead", lines: 1 });

/** What `program` in the place of ripgrep finds. */
async function locate(
  tree: Tree,
  program: string,
  options: { signal?: AbortSignal; pool?: ScanPool; from?: string } = {},
): Promise<Located[]> {
  const pool = options.pool ?? new ScanPool();
  onTestFinished(() => pool.close());
  const root = await tree.guard.openDirectory(options.from ?? tree.root);
  const found: Located[] = [];
  try {
    const request = {
      guard: tree.guard,
      root,
      pattern: await textPattern("x", { literal: true, ignoreCase: false }),
      glob: undefined,
      globText: undefined,
      ignore: await IgnoreScope.above(tree.guard, root, []),
      signal: options.signal ?? new AbortController().signal,
    };
    await locateByRipgrep(program, pool, instead)(request, (located) => found.push(located));
  } finally {
    await root.close();
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A program beside the tree. */
async function script(tree: Tree, body: string): Promise<string> {
  const path = `${tree.outside}/program`;
  await tree.add({ "outside/program": `#!/bin/sh\n${body}\n` });
  await chmod(path, 0o755);
  return path;
}

describe("locateByRipgrep", () => {
  it("does not believe it where it was led astray by a swapped directory", async () => {
    const tree = await makeTree({
      "victim/secret": "nothing",
      "victim/true": "x",
      "outside/secret": "x\nx\n",
    });
    // What a race would do once in a thousand times.
    const program = await script(
      tree,
      `mv victim away; ln -s "${tree.outside}" victim
       printf './victim/secret\\0002\\n./victim/true\\0001\\n./victim/gone\\0001\\n'
       rm victim; mv away victim`,
    );
    expect(await locate(tree, program)).toEqual([{ path: "victim/true", lines: 1 }]);
    expect(await locate(tree, program, { from: "victim" })).toEqual([]);
  });

  it("believes it where nothing changed, and counts nothing again", async () => {
    const tree = await makeTree({ a: "x\n", "b/new\nline": "x\nx\n", c: "y\n" });
    const now = vi.spyOn(Date, "now");
    onTestFinished(() => now.mockRestore());
    /** The search begins so long after the last change of the tree. */
    const after = (milliseconds: number) => {
      now.mockReturnValue(
        Math.max(...["", "b"].map((path) => statSync(tree.at(path)).ctimeMs)) + milliseconds,
      );
    };
    after(1_100);
    class NoPool extends ScanPool {
      override run(): never {
        throw new Error("counted again");
      }
    }
    const expected = [
      { path: "a", lines: 1 },
      { path: "b/new\nline", lines: 2 },
    ];
    expect(await locate(tree, rgPath, { pool: new NoPool() })).toEqual(expected);
    await tree.add({ d: "x" });
    after(900);
    await expect(locate(tree, rgPath, { pool: new NoPool() })).rejects.toThrow("counted again");
    expect(await locate(tree, rgPath)).toEqual([...expected, { path: "d", lines: 1 }]);
  });

  it("leaves the search to the other engine where the program refuses, fails or is gone", async () => {
    const tree = await makeTree({ a: "x" });
    const others = [{ path: "instead", lines: 1 }];
    expect(await locate(tree, await script(tree, "echo 'regex parse error' >&2; exit 2"))).toEqual(others);
    expect(await locate(tree, await script(tree, "kill -9 $$"))).toEqual(others);
    expect(await locate(tree, `${tree.outside}/missing`)).toEqual(others);
    const midway = await script(tree, "printf './a\\0001\\n'; kill -9 $$");
    await expect(locate(tree, midway)).rejects.toMatchObject({ kind: "unavailable" });
    // Some files could not be read, the rest was searched.
    expect(await locate(tree, await script(tree, "exit 2"))).toEqual([]);
  });

  it("kills the program when it is cancelled", async () => {
    const tree = await makeTree({ a: "x" });
    const program = await script(tree, `echo $$ > "${tree.outside}/pid"; exec sleep 60`);
    const controller = new AbortController();
    const running = locate(tree, program, { signal: controller.signal });
    const ended = expect(running).rejects.toThrow("taken back");
    const pidFile = `${tree.outside}/pid`;
    const said = () => (existsSync(pidFile) ? readFileSync(pidFile, "utf8") : "");
    await expect.poll(said).toMatch(/^\d+\n$/);
    controller.abort(new Error("taken back"));
    await ended;
    const pid = said().trim();
    expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
  });
});
