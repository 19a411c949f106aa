import fs, { renameSync, symlinkSync, unlinkSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { describe, expect, it, onTestFinished } from "vitest";
import { isLong } from "../../../../../vitest.long.ts";
import { keepSwapping } from "../../../test/swapper.ts";
import { makeTree, type Tree } from "../../../test/tree.ts";
import { type Met, type WalkOptions, type WalkReport, walk } from "./walk.ts";

async function walked(
  tree: Tree,
  options: WalkOptions & { from?: string } = {},
  visit: (met: Met) => "stop" | undefined = () => undefined,
): Promise<WalkReport & { paths: string[] }> {
  const root = await tree.guard.openDirectory(options.from ?? tree.root);
  try {
    const paths: string[] = [];
    const report = await walk(tree.guard, root, options, (met) => {
      paths.push(met.type === "directory" ? `${met.path}/` : met.path);
      return visit(met);
    });
    return { ...report, paths };
  } finally {
    await root.close();
  }
}

describe.each(["proc", "portable"] as const)("walk, verified by %s", (verification) => {
  const options = { verification };

  it("visits everything but .git, in the order of the paths' components", async () => {
    const tree = await makeTree(
      {
        "b.txt": "",
        "a/z": "",
        "a/b/c": "",
        "a-b": "",
        "a.txt": "",
        ".git/HEAD": "",
        "sub/.git": "gitdir: x",
        empty: null,
      },
      options,
    );
    const { paths, hidden, ended } = await walked(tree);
    expect(paths).toEqual([
      "a/",
      "a/b/",
      "a/b/c",
      "a/z",
      "a-b",
      "a.txt",
      "b.txt",
      "empty/",
      "sub/",
    ]);
    expect(hidden).toBe(2);
    expect(ended).toBe("complete");
  });

  it("reports symlinks without following them", async () => {
    const tree = await makeTree(
      {
        "a/file": "",
        "a/loop": { link: ".." },
        "inside-link": { link: "a" },
        "out-link": { link: "../outside" },
        "outside/secret": "s",
        self: { link: "self" },
      },
      options,
    );
    const { paths } = await walked(tree);
    expect(paths).toEqual(["a/", "a/file", "a/loop", "inside-link", "out-link", "self"]);
  });

  it("continues after any path without repeat or gap, even a deleted one", async () => {
    const tree = await makeTree(
      { "a/b/c": "", "a/b/d": "", "a/e": "", "a-b": "", f: "", "g/h": "" },
      options,
    );
    const { paths } = await walked(tree);
    for (const [index, after] of paths.entries()) {
      const rest = await walked(tree, { after: after.replace(/\/$/, "") });
      expect(rest.paths).toEqual(paths.slice(index + 1));
    }
    expect((await walked(tree, { after: "a/b/ccc" })).paths).toEqual(paths.slice(3));
    expect((await walked(tree, { after: "zzz/x" })).paths).toEqual([]);
  });

  it("finds nothing outside while a directory is swapped for a link", async () => {
    const content: Record<string, string> = { "outside/SECRET": "s", "outside/d0/SECRET2": "s" };
    for (let i = 0; i < 20; i++) content[`victim/d${i}/inner${i}`] = "";
    const tree = await makeTree(content, options);
    await keepSwapping(tree.at("victim"), tree.outside);
    let entered = 0;
    for (let i = 0; i < (isLong ? 300 : 100); i++) {
      const { paths } = await walked(tree);
      expect(paths.filter((path) => path.includes("SECRET"))).toEqual([]);
      if (paths.some((path) => path.includes("inner"))) entered += 1;
    }
    expect(entered).toBeGreaterThan(0);
  });
});

it("detects a directory that is swapped for a symlink and back during one read, by path", async () => {
  const tree = await makeTree(
    { "outside/SECRET": "s", "victim/inner": "" },
    { verification: "portable" },
  );
  const [victim, aside] = [tree.at("victim"), `${tree.at("victim")}.aside`];
  const { readdirSync } = fs;
  let swaps = 0;
  const swapping = (path: string, ...rest: unknown[]): unknown => {
    const read = () => Reflect.apply(readdirSync, fs, [path, ...rest]);
    if (path !== victim || swaps > 0) return read();
    swaps += 1;
    renameSync(victim, aside);
    symlinkSync(tree.outside, victim);
    try {
      return read();
    } finally {
      unlinkSync(victim);
      renameSync(aside, victim);
    }
  };
  Reflect.set(fs, "readdirSync", swapping);
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.readdirSync = readdirSync;
    syncBuiltinESMExports();
  });
  expect((await walked(tree)).paths).toEqual(["victim/", "victim/inner"]);
  expect(swaps).toBe(1);
});

describe("walk", () => {
  it("handles names with newlines and control characters, and very deep trees", async () => {
    const deep = Array.from({ length: 300 }, () => "d").join("/");
    const tree = await makeTree({ "new\nline/\u001b[31mred": "", [deep]: null });
    const { paths, unreadable } = await walked(tree);
    expect(paths).toContain("new\nline/\u001b[31mred");
    expect(paths).toContain(`${Array.from({ length: 256 }, () => "d").join("/")}/`);
    expect(unreadable).toBe(1);
  });

  it("keeps the event loop responsive, finishes in time, and stops at once when cancelled", async () => {
    const tree = await makeTree({});
    for (let i = 0; i < 100; i++) {
      await mkdir(tree.at(`d${i}`));
      await Promise.all(
        Array.from({ length: 60 }, (_, j) => writeFile(tree.at(`d${i}`, `f${j}`), "")),
      );
    }
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    onTestFinished(() => clearInterval(timer));
    // A slow visitor simulates a huge tree.
    const slow = () => {
      const end = performance.now() + 0.02;
      while (performance.now() < end);
      return undefined;
    };
    const { paths } = await walked(tree, {}, slow);
    expect(paths.length).toBe(100 * 61);
    expect(turns).toBeGreaterThan(10);

    const late = await walked(tree, { budgetMs: 40 }, slow);
    expect(late.ended).toBe("late");
    expect(late.last).toBe(late.paths.at(-1)?.replace(/\/$/, ""));
    const rest = await walked(tree, { after: late.last });
    expect([...late.paths, ...rest.paths]).toEqual(paths);

    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("taken back")), 20);
    let visited = 0;
    const cancelled = walked(tree, { signal: controller.signal }, () => {
      visited += 1;
      return slow();
    });
    await expect(cancelled).rejects.toThrow("taken back");
    expect(visited).toBeLessThan(paths.length);
  });

  it("closes every descriptor, even if it stops early or fails", async () => {
    const tree = await makeTree({ "a/b/c/d": "", "a/b/e": "" });
    const open = async () => (await readdir("/proc/self/fd")).length;
    await walked(tree);
    const before = await open();
    for (let i = 0; i < 20; i++) {
      await walked(tree, {}, ({ name }) => (name === "d" ? "stop" : undefined));
      await walked(tree, {}, ({ name }) => {
        if (name === "d") throw new Error("visitor failed");
        return undefined;
      }).catch(() => {});
    }
    expect(await open()).toBe(before);
  });

  it("does not enter a symlink that replaces a directory it is about to enter", async () => {
    const tree = await makeTree({ "a/x": "", "outside/secret": "" });
    const { paths } = await walked(tree, {}, ({ name }) => {
      if (name === "a") swapNow(tree);
      return undefined;
    });
    expect(paths).toEqual(["a/"]);
  });
});

/** Synchronously, between the visit of the directory and its opening. */
function swapNow(tree: Tree): void {
  renameSync(tree.at("a"), tree.at("was-a"));
  symlinkSync(tree.outside, tree.at("a"));
}
