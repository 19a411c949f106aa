import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allowlistOf,
  makeWorkspace,
  refusal,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import { DirectoryAllowlist } from "./directories.ts";
import { describeAllowed } from "./path-errors.ts";
import { createPathGuard } from "./path-guard.ts";
import type { AllowedDirectories } from "./types.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await makeWorkspace();
});
afterEach(() => workspace.remove());

function rootsAt(...paths: string[]) {
  return paths.map((path) => ({ uri: pathToFileURL(path).href }));
}

function pathsOf(allowed: AllowedDirectories): string[] {
  return allowed.directories().map(({ path }) => path);
}

describe("configured directories", () => {
  it("are absolute, in their order, once each, with their source", () => {
    const { root, outside } = workspace;
    const allowed = allowlistOf(
      { path: relative(process.cwd(), outside), source: "argument" },
      { path: `${root}/x/..`, source: "environment", writable: false },
      { path: outside, source: "environment" },
    );
    expect(allowed.directories()).toEqual([
      { path: outside, realPath: outside, source: "argument", writable: true },
      { path: root, realPath: root, source: "environment", writable: false },
    ]);
  });

  it("may be given with ~ or as a file URI", () => {
    const allowed = allowlistOf(
      { path: "~", source: "argument" },
      { path: pathToFileURL(workspace.root).href, source: "argument" },
    );
    expect(pathsOf(allowed)).toEqual([homedir(), workspace.root]);
  });

  it.each(["", "a\0b", "file://host/x"])("%j is refused at once", (path) => {
    expect(() => allowlistOf({ path, source: "argument" })).toThrow(
      expect.objectContaining({ kind: "invalid" }),
    );
  });

  it("may be a link: both names are known", async () => {
    const link = join(workspace.base, "link");
    await symlink(workspace.root, link);
    const allowed = allowlistOf({ path: link, source: "argument" });
    expect(allowed.directories()).toMatchObject([{ path: link, realPath: workspace.root }]);
  });

  it("are found in the other Unicode form", async () => {
    const stored = join(workspace.base, "cafe\u0301");
    await mkdir(stored);
    const allowed = allowlistOf({ path: join(workspace.base, "caf\u00e9"), source: "argument" });
    expect(allowed.directories()).toMatchObject([{ realPath: stored }]);
  });

  it("may appear, disappear and return while the server runs; listeners are notified", async () => {
    const path = join(workspace.base, "later");
    const allowed = allowlistOf({ path, source: "argument" });
    let changes = 0;
    const stop = allowed.onChange(() => {
      changes += 1;
    });
    expect(allowed.directories()).toEqual([
      { path, realPath: path, source: "argument", writable: true, unavailable: "does not exist" },
    ]);
    await mkdir(path);
    allowed.refresh();
    expect(allowed.directories()).toEqual([
      { path, realPath: path, source: "argument", writable: true },
    ]);
    await rm(path, { recursive: true });
    await writeFile(path, "");
    allowed.refresh();
    expect(allowed.directories()).toMatchObject([{ unavailable: "is not a directory" }]);
    allowed.refresh();
    expect(changes).toBe(2);
    stop();
    await rm(path);
    allowed.refresh();
    expect(changes).toBe(2);
  });

  it("are never /proc, under any name", async () => {
    const link = join(workspace.base, "link");
    await symlink("/proc/self", link);
    const allowed = allowlistOf(
      { path: "/proc", source: "argument" },
      { path: link, source: "argument" },
    );
    for (const directory of allowed.directories())
      expect(directory.unavailable).toMatch(/never allowed/);
  });
});

describe("a configured symlink that is changed", () => {
  it("is followed if it is outside the directories that the server may change", async () => {
    const link = join(workspace.base, "current");
    await symlink(workspace.root, link);
    const allowed = allowlistOf({ path: link, source: "argument" });
    await rm(link);
    await symlink(workspace.outside, link);
    allowed.refresh();
    expect(allowed.directories()).toMatchObject([{ realPath: workspace.outside }]);
  });

  it("is not followed if it replaced a directory, until the directory is back", async () => {
    const path = join(workspace.base, "project");
    await mkdir(path);
    const allowed = allowlistOf({ path, source: "argument" });
    await rename(path, join(workspace.base, "away"));
    await symlink(workspace.outside, path);
    allowed.refresh();
    expect(allowed.directories()).toMatchObject([
      { realPath: path, unavailable: /replaced by a link/ },
    ]);
    const secret = join(path, "secret.txt");
    expect(await refusal(createPathGuard(allowed).openFile(secret))).toMatchObject({
      code: "directory_unavailable",
    });
    await rm(path);
    await rename(join(workspace.base, "away"), path);
    allowed.refresh();
    expect(allowed.directories()).toEqual([
      { path, realPath: path, source: "argument", writable: true },
    ]);
  });

  it.each(["before", "after"])(
    "is refused if it is inside an allowed directory (created %s startup)",
    async (when) => {
      const sub = join(workspace.root, "sub");
      if (when === "before") await mkdir(sub);
      const allowed = allowlistOf(
        { path: workspace.root, source: "argument" },
        { path: sub, source: "argument" },
      );
      if (when === "before") await rename(sub, join(workspace.root, "old"));
      await symlink(workspace.outside, sub);
      allowed.refresh();
      expect(allowed.directories()).toMatchObject([
        { path: workspace.root },
        { path: sub, unavailable: /restart/ },
      ]);
      expect(allowed.directories().map(({ realPath }) => realPath)).toEqual([workspace.root, sub]);
    },
  );
});

describe("client roots", () => {
  it("narrow the configured directories, and never widen them", async () => {
    const sub = join(workspace.root, "sub");
    await mkdir(sub);
    const { allowed } = workspace;
    expect(allowed.setClientRoots(rootsAt(sub))).toEqual([]);
    expect(allowed.directories()).toEqual([
      { path: sub, realPath: sub, source: "client root", writable: true },
    ]);
    expect(allowed.setClientRoots(rootsAt("/"))).toEqual([]);
    expect(pathsOf(allowed)).toEqual([workspace.root]);
    allowed.setClientRoots(rootsAt(sub));
    allowed.setClientRoots(undefined);
    expect(pathsOf(allowed)).toEqual([workspace.root]);
  });

  it("outside are ignored with a note; if all are outside, the configured ones remain", async () => {
    const { allowed, outside, root } = workspace;
    const sibling = `${root}-evil`;
    await mkdir(sibling);
    const notes = allowed.setClientRoots(rootsAt(outside, sibling));
    expect(notes).toHaveLength(3);
    expect(notes[0]).toContain(outside);
    expect(notes[2]).toContain(`the configured directories remain: "${root}"`);
    expect(pathsOf(allowed)).toEqual([root]);
    expect(allowed.setClientRoots(rootsAt(outside, root))).toHaveLength(1);
    expect(pathsOf(allowed)).toEqual([root]);
  });

  it("that are links out of the allowed are outside", async () => {
    const link = join(workspace.root, "link");
    await symlink(workspace.outside, link);
    expect(workspace.allowed.setClientRoots(rootsAt(link))).toHaveLength(2);
    expect(pathsOf(workspace.allowed)).toEqual([workspace.root]);
  });

  it("that are not file URIs are ignored, each with a note", () => {
    const notes = workspace.allowed.setClientRoots([
      { uri: "https://example.com/" },
      { uri: "file://server/share" },
      { uri: "file:///a\nb" },
      { uri: "/plain" },
    ]);
    expect(notes).toHaveLength(4);
    for (const note of notes) expect(note).toMatch(/^The client's root .*ignored.*\.$/);
  });

  it("are the allowed if nothing is configured, but never a whole file system", () => {
    const allowed = new DirectoryAllowlist({ configured: [], mode: "narrow" });
    expect(allowed.directories()).toEqual([]);
    expect(allowed.setClientRoots(rootsAt(workspace.root))).toEqual([]);
    expect(pathsOf(allowed)).toEqual([workspace.root]);
    expect(allowed.setClientRoots(rootsAt("/"))).toEqual([
      expect.stringMatching(/"\/" is ignored: it is a whole file system/),
    ]);
    expect(allowed.directories()).toEqual([]);
  });

  it("replace the configured directories with --roots replace, but never open the whole disk", () => {
    const allowed = new DirectoryAllowlist({
      configured: [{ path: workspace.root, source: "argument" }],
      mode: "replace",
    });
    expect(allowed.setClientRoots(rootsAt(workspace.outside))).toEqual([]);
    expect(pathsOf(allowed)).toEqual([workspace.outside]);
    expect(allowed.setClientRoots(rootsAt("/"))).toHaveLength(2);
    expect(pathsOf(allowed)).toEqual([workspace.root]);
  });

  it("are ignored if they are turned off", () => {
    const allowed = new DirectoryAllowlist({
      configured: [{ path: workspace.root, source: "argument" }],
      mode: "off",
    });
    expect(allowed.setClientRoots(rootsAt(workspace.outside))).toEqual([]);
    expect(pathsOf(allowed)).toEqual([workspace.root]);
    const none = new DirectoryAllowlist({ configured: [], mode: "off" });
    none.setClientRoots(rootsAt(workspace.outside));
    expect(none.directories()).toEqual([]);
  });

  it("take precedence over the fallback, which is never a whole file system", () => {
    const allowed = new DirectoryAllowlist({
      configured: [],
      mode: "narrow",
      fallback: workspace.root,
    });
    expect(allowed.directories()).toMatchObject([
      { path: workspace.root, source: "working directory" },
    ]);
    allowed.setClientRoots(rootsAt(workspace.outside));
    expect(pathsOf(allowed)).toEqual([workspace.outside]);
    allowed.setClientRoots([]);
    expect(pathsOf(allowed)).toEqual([workspace.root]);
    expect(
      new DirectoryAllowlist({ configured: [], mode: "narrow", fallback: "/" }).directories(),
    ).toEqual([]);
  });
});

describe("describeAllowed", () => {
  it("lists the directories with remarks, or the option that helps", async () => {
    const { root, base } = workspace;
    expect(describeAllowed(workspace.allowed)).toBe(`the allowed directory is "${root}"`);
    const allowed = allowlistOf(
      { path: root, source: "argument", writable: false },
      { path: join(base, "none"), source: "argument" },
    );
    expect(describeAllowed(allowed)).toBe(
      `the allowed directories are "${root}" (read-only) and "${base}/none" (does not exist)`,
    );
    const none = new DirectoryAllowlist({ configured: [], mode: "narrow" });
    expect(describeAllowed(none)).toContain("a directory argument or --root");
  });

  it("is part of a path error", async () => {
    const none = new DirectoryAllowlist({ configured: [], mode: "narrow" });
    expect(await refusal(createPathGuard(none).openFile("x"))).toMatchObject({
      kind: "denied",
      code: "no_directories",
      hint: expect.stringContaining("--root"),
    });
  });
});
