import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { boundOf, makeWorkspace, refusal, type Workspace } from "../../test/fixtures/boundary.ts";
import { DirectoryBound, describeBound } from "./directories.ts";
import { createPathGuard } from "./path-guard.ts";
import type { Bound } from "./types.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await makeWorkspace();
});
afterEach(() => workspace.remove());

function rootsAt(...paths: string[]) {
  return paths.map((path) => ({ uri: pathToFileURL(path).href }));
}

function pathsOf(bound: Bound): string[] {
  return bound.directories().map(({ path }) => path);
}

describe("configured directories", () => {
  it("are absolute, in their order, once each, with their source", () => {
    const { root, outside } = workspace;
    const bound = boundOf(
      { path: relative(process.cwd(), outside), source: "argument" },
      { path: `${root}/x/..`, source: "environment", writable: false },
      { path: outside, source: "environment" },
    );
    expect(bound.directories()).toEqual([
      { path: outside, realPath: outside, source: "argument", writable: true },
      { path: root, realPath: root, source: "environment", writable: false },
    ]);
  });

  it("may be given with ~ or as a file URI", () => {
    const bound = boundOf(
      { path: "~", source: "argument" },
      { path: pathToFileURL(workspace.root).href, source: "argument" },
    );
    expect(pathsOf(bound)).toEqual([homedir(), workspace.root]);
  });

  it.each(["", "a\0b", "file://host/x"])("%j is refused at once", (path) => {
    expect(() => boundOf({ path, source: "argument" })).toThrow(expect.objectContaining({ kind: "invalid" }));
  });

  it("may be a link: both names are known", async () => {
    const link = join(workspace.base, "link");
    await symlink(workspace.root, link);
    const bound = boundOf({ path: link, source: "argument" });
    expect(bound.directories()).toMatchObject([{ path: link, realPath: workspace.root }]);
  });

  it("are found in the other Unicode form", async () => {
    const stored = join(workspace.base, "cafe\u0301");
    await mkdir(stored);
    const bound = boundOf({ path: join(workspace.base, "caf\u00e9"), source: "argument" });
    expect(bound.directories()).toMatchObject([{ realPath: stored }]);
  });

  it("may appear, disappear and return while the server runs; listeners are notified", async () => {
    const path = join(workspace.base, "later");
    const bound = boundOf({ path, source: "argument" });
    let changes = 0;
    const stop = bound.onChange(() => {
      changes += 1;
    });
    expect(bound.directories()).toEqual([
      { path, realPath: path, source: "argument", writable: true, unavailable: "does not exist" },
    ]);
    await mkdir(path);
    bound.refresh();
    expect(bound.directories()).toEqual([{ path, realPath: path, source: "argument", writable: true }]);
    await rm(path, { recursive: true });
    await writeFile(path, "");
    bound.refresh();
    expect(bound.directories()).toMatchObject([{ unavailable: "is not a directory" }]);
    bound.refresh();
    expect(changes).toBe(2);
    stop();
    await rm(path);
    bound.refresh();
    expect(changes).toBe(2);
  });

  it("are never /proc, under any name", async () => {
    const link = join(workspace.base, "link");
    await symlink("/proc/self", link);
    const bound = boundOf({ path: "/proc", source: "argument" }, { path: link, source: "argument" });
    for (const directory of bound.directories()) expect(directory.unavailable).toMatch(/never allowed/);
  });
});

describe("a configured symlink that is changed", () => {
  it("is followed if it is outside the directories that the server may change", async () => {
    const link = join(workspace.base, "current");
    await symlink(workspace.root, link);
    const bound = boundOf({ path: link, source: "argument" });
    await rm(link);
    await symlink(workspace.outside, link);
    bound.refresh();
    expect(bound.directories()).toMatchObject([{ realPath: workspace.outside }]);
  });

  it("is not followed if it replaced a directory, until the directory is back", async () => {
    const path = join(workspace.base, "project");
    await mkdir(path);
    const bound = boundOf({ path, source: "argument" });
    await rename(path, join(workspace.base, "away"));
    await symlink(workspace.outside, path);
    bound.refresh();
    expect(bound.directories()).toMatchObject([{ realPath: path, unavailable: /replaced by a link/ }]);
    const secret = join(path, "secret.txt");
    expect(await refusal(createPathGuard(bound).openFile(secret))).toMatchObject({
      code: "directory_unavailable",
    });
    await rm(path);
    await rename(join(workspace.base, "away"), path);
    bound.refresh();
    expect(bound.directories()).toEqual([{ path, realPath: path, source: "argument", writable: true }]);
  });

  it.each(["before", "after"])(
    "is refused if it is inside an allowed directory (created %s startup)",
    async (when) => {
      const sub = join(workspace.root, "sub");
      if (when === "before") await mkdir(sub);
      const bound = boundOf({ path: workspace.root, source: "argument" }, { path: sub, source: "argument" });
      if (when === "before") await rename(sub, join(workspace.root, "old"));
      await symlink(workspace.outside, sub);
      bound.refresh();
      expect(bound.directories()).toMatchObject([
        { path: workspace.root },
        { path: sub, unavailable: /restart/ },
      ]);
      expect(bound.directories().map(({ realPath }) => realPath)).toEqual([workspace.root, sub]);
    },
  );
});

describe("client roots", () => {
  it("narrow the configured directories, and never widen them", async () => {
    const sub = join(workspace.root, "sub");
    await mkdir(sub);
    const { bound } = workspace;
    expect(bound.setClientRoots(rootsAt(sub))).toEqual([]);
    expect(bound.directories()).toEqual([
      { path: sub, realPath: sub, source: "client root", writable: true },
    ]);
    expect(bound.setClientRoots(rootsAt("/"))).toEqual([]);
    expect(pathsOf(bound)).toEqual([workspace.root]);
    bound.setClientRoots(rootsAt(sub));
    bound.setClientRoots(undefined);
    expect(pathsOf(bound)).toEqual([workspace.root]);
  });

  it("outside are ignored with a note; if all are outside, the configured ones remain", async () => {
    const { bound, outside, root } = workspace;
    const sibling = `${root}-evil`;
    await mkdir(sibling);
    const notes = bound.setClientRoots(rootsAt(outside, sibling));
    expect(notes).toHaveLength(3);
    expect(notes[0]).toContain(outside);
    expect(notes[2]).toContain(`the configured directories remain: "${root}"`);
    expect(pathsOf(bound)).toEqual([root]);
    expect(bound.setClientRoots(rootsAt(outside, root))).toHaveLength(1);
    expect(pathsOf(bound)).toEqual([root]);
  });

  it("that are links out of the bound are outside", async () => {
    const link = join(workspace.root, "link");
    await symlink(workspace.outside, link);
    expect(workspace.bound.setClientRoots(rootsAt(link))).toHaveLength(2);
    expect(pathsOf(workspace.bound)).toEqual([workspace.root]);
  });

  it("that are not file URIs are ignored, each with a note", () => {
    const notes = workspace.bound.setClientRoots([
      { uri: "https://example.com/" },
      { uri: "file://server/share" },
      { uri: "file:///a\nb" },
      { uri: "/plain" },
    ]);
    expect(notes).toHaveLength(4);
    for (const note of notes) expect(note).toMatch(/^The client's root .*ignored.*\.$/);
  });

  it("are the bound if nothing is configured, but never a whole file system", () => {
    const bound = new DirectoryBound({ configured: [], mode: "narrow" });
    expect(bound.directories()).toEqual([]);
    expect(bound.setClientRoots(rootsAt(workspace.root))).toEqual([]);
    expect(pathsOf(bound)).toEqual([workspace.root]);
    expect(bound.setClientRoots(rootsAt("/"))).toEqual([
      expect.stringMatching(/"\/" is ignored: it is a whole file system/),
    ]);
    expect(bound.directories()).toEqual([]);
  });

  it("replace the configured directories with --roots replace, but never open the whole disk", () => {
    const bound = new DirectoryBound({
      configured: [{ path: workspace.root, source: "argument" }],
      mode: "replace",
    });
    expect(bound.setClientRoots(rootsAt(workspace.outside))).toEqual([]);
    expect(pathsOf(bound)).toEqual([workspace.outside]);
    expect(bound.setClientRoots(rootsAt("/"))).toHaveLength(2);
    expect(pathsOf(bound)).toEqual([workspace.root]);
  });

  it("are ignored if they are turned off", () => {
    const bound = new DirectoryBound({
      configured: [{ path: workspace.root, source: "argument" }],
      mode: "off",
    });
    expect(bound.setClientRoots(rootsAt(workspace.outside))).toEqual([]);
    expect(pathsOf(bound)).toEqual([workspace.root]);
    const none = new DirectoryBound({ configured: [], mode: "off" });
    none.setClientRoots(rootsAt(workspace.outside));
    expect(none.directories()).toEqual([]);
  });

  it("take precedence over the fallback, which is never a whole file system", () => {
    const bound = new DirectoryBound({ configured: [], mode: "narrow", fallback: workspace.root });
    expect(bound.directories()).toMatchObject([{ path: workspace.root, source: "working directory" }]);
    bound.setClientRoots(rootsAt(workspace.outside));
    expect(pathsOf(bound)).toEqual([workspace.outside]);
    bound.setClientRoots([]);
    expect(pathsOf(bound)).toEqual([workspace.root]);
    expect(new DirectoryBound({ configured: [], mode: "narrow", fallback: "/" }).directories()).toEqual([]);
  });
});

describe("describeBound", () => {
  it("lists the directories with remarks, or the option that helps", async () => {
    const { root, base } = workspace;
    expect(describeBound(workspace.bound)).toBe(`the allowed directory is "${root}"`);
    const bound = boundOf(
      { path: root, source: "argument", writable: false },
      { path: join(base, "none"), source: "argument" },
    );
    expect(describeBound(bound)).toBe(
      `the allowed directories are "${root}" (read-only) and "${base}/none" (does not exist)`,
    );
    const none = new DirectoryBound({ configured: [], mode: "narrow" });
    expect(describeBound(none)).toContain("a directory argument or --root");
  });

  it("is part of a path error", async () => {
    const none = new DirectoryBound({ configured: [], mode: "narrow" });
    expect(await refusal(createPathGuard(none).openFile("x"))).toMatchObject({
      kind: "denied",
      code: "no_directories",
      hint: expect.stringContaining("--root"),
    });
  });
});
