import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allowlistOf,
  makeWorkspace,
  readOnly,
  refusal,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import { DirectoryAllowlist, type DirectoryAllowlistOptions, withRoots } from "./directories.ts";
import { describeAllowed } from "./path-errors.ts";
import { createPathGuard } from "./path-guard.ts";
import type { AllowedDirectories, AllowedDirectory } from "./types.ts";

let workspace: Workspace;
beforeEach(async () => {
  workspace = await makeWorkspace();
});
afterEach(() => workspace.remove());

const rootsAt = (...paths: string[]) => paths.map((path) => ({ uri: pathToFileURL(path).href }));
const pathsOf = (allowed: AllowedDirectories) => allowed.directories().map(({ path }) => path);

describe("configured directories", () => {
  it("are absolute, in their order, once each, with their source", () => {
    const { root, outside } = workspace;
    const allowed = allowlistOf(
      relative(process.cwd(), outside),
      { path: `${root}/x/..`, source: "environment", writable: false },
      { path: outside, source: "environment" },
    );
    expect(allowed.directories()).toEqual([
      { path: outside, realPath: outside, source: "argument", writable: true },
      { path: root, realPath: root, source: "environment", writable: false },
    ]);
  });

  it("may be given with ~ or as a file URI, and are refused at once if they cannot be a path", () => {
    const allowed = allowlistOf("~", pathToFileURL(workspace.root).href);
    expect(pathsOf(allowed)).toEqual([homedir(), workspace.root]);
    for (const path of ["", "a\0b", "file://host/x"])
      expect(() => allowlistOf(path)).toThrow(expect.objectContaining({ kind: "invalid" }));
  });

  it("may be a link: both of its names work, also in the other Unicode form", async () => {
    const { base, root } = workspace;
    await symlink(root, join(base, "link"));
    await mkdir(join(base, "cafe\u0301"));
    expect(allowlistOf(join(base, "link"), join(base, "caf\u00e9")).directories()).toMatchObject([
      { path: join(base, "link"), realPath: root },
      { realPath: join(base, "cafe\u0301") },
    ]);
  });

  it("may appear, disappear and return while the server runs; listeners are notified", async () => {
    const path = join(workspace.base, "later");
    const allowed = allowlistOf(path);
    let changes = 0;
    const stop = allowed.onChange(() => {
      changes += 1;
    });
    const expected = { path, realPath: path, source: "argument", writable: true };
    expect(allowed.directories()).toEqual([{ ...expected, unavailable: "does not exist" }]);
    await mkdir(path);
    allowed.refresh();
    expect(allowed.directories()).toEqual([expected]);
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
    for (const { unavailable } of allowlistOf("/proc", link).directories())
      expect(unavailable).toMatch(/never allowed/);
  });
});

describe("a configured path that leads elsewhere later", () => {
  it("is not followed until the directory is back", async () => {
    const path = join(workspace.base, "project");
    await mkdir(path);
    const allowed = allowlistOf(path);
    await rename(path, join(workspace.base, "away"));
    await symlink(workspace.outside, path);
    allowed.refresh();
    const unavailable = expect.stringMatching(/symlink; restart the server/);
    expect(allowed.directories()).toMatchObject([{ realPath: path, unavailable }]);
    const secret = join(path, "secret.txt");
    await refusal(createPathGuard(allowed).openFile(secret), "directory_unavailable");
    await rm(path);
    await rename(join(workspace.base, "away"), path);
    allowed.refresh();
    expect(allowed.directories()).toMatchObject([{ path, realPath: path }]);
    expect(allowed.directories()[0]?.unavailable).toBeUndefined();
  });

  it.each(["a directory", "nothing", "a link"])("is not followed if it was %s", async (what) => {
    const { root, outside } = workspace;
    const sub = join(root, "sub");
    if (what === "a directory") await mkdir(sub);
    if (what === "a link") await symlink(".", sub);
    const allowed = allowlistOf(root, sub);
    if (what === "a directory") await rename(sub, join(root, "old"));
    if (what === "a link") await rm(sub);
    await symlink(outside, sub);
    allowed.refresh();
    expect(allowed.directories().map(({ realPath }) => realPath)).not.toContain(outside);
    await refusal(createPathGuard(allowed).openFile(join(sub, "secret.txt")), "outside");
    // A client that offers it again does not change that.
    const offered = new DirectoryAllowlist({ configured: [], mode: "narrow" });
    await rm(sub);
    await mkdir(sub);
    offered.setClientRoots(rootsAt(sub));
    await rm(sub, { recursive: true });
    await symlink(outside, sub);
    offered.setClientRoots(rootsAt(sub));
    expect(offered.directories()).toMatchObject([{ realPath: sub, unavailable: /restart/ }]);
  });
});

describe("client roots", () => {
  const allow = (options: Partial<DirectoryAllowlistOptions>) =>
    new DirectoryAllowlist({ configured: [], mode: "narrow", ...options });
  const configured = () => [{ path: workspace.root, source: "argument" as const }];

  it("narrow the configured directories, and never widen them", async () => {
    const { allowed, root, outside } = workspace;
    const sub = join(root, "sub");
    await mkdir(sub);
    expect(allowed.setClientRoots(rootsAt(sub))).toEqual([]);
    expect(allowed.directories()).toEqual([
      { path: sub, realPath: sub, source: "client root", writable: true },
    ]);
    expect(allowed.setClientRoots(rootsAt("/"))).toEqual([]);
    expect(pathsOf(allowed)).toEqual([root]);
    allowed.setClientRoots(rootsAt(sub));
    allowed.setClientRoots(undefined);
    expect(pathsOf(allowed)).toEqual([root]);
    await mkdir(`${root}-evil`);
    await symlink(outside, join(root, "link"));
    const notes = allowed.setClientRoots(rootsAt(outside, `${root}-evil`, join(root, "link")));
    expect(notes).toHaveLength(3);
    expect(notes[0]).toContain(outside);
    expect(pathsOf(allowed)).toEqual([root]);
    expect(allowed.setClientRoots(rootsAt(outside, root))).toHaveLength(1);
    expect(pathsOf(allowed)).toEqual([root]);
  });

  it("that are not file URIs are ignored, each with a note", () => {
    const uris = ["https://example.com/", "file://server/share", "file:///a\nb", "/plain"];
    const notes = workspace.allowed.setClientRoots(uris.map((uri) => ({ uri })));
    expect(notes).toHaveLength(4);
    for (const note of notes) expect(note).toMatch(/^The client's root .*ignored.*\.$/);
  });

  it("are the allowed if nothing is configured, but never a whole file system", () => {
    const allowed = allow({});
    expect(allowed.directories()).toEqual([]);
    expect(allowed.setClientRoots(rootsAt(workspace.root))).toEqual([]);
    expect(pathsOf(allowed)).toEqual([workspace.root]);
    expect(allowed.setClientRoots(rootsAt("/"))).toEqual([
      expect.stringMatching(/"\/" is ignored: .*a whole file system/),
    ]);
    expect(allowed.directories()).toEqual([]);
  });

  it("replace the configured directories with --roots replace, but never open the whole disk", () => {
    const allowed = allow({ configured: configured(), mode: "replace" });
    expect(allowed.setClientRoots(rootsAt(workspace.outside))).toEqual([]);
    expect(pathsOf(allowed)).toEqual([workspace.outside]);
    expect(allowed.setClientRoots(rootsAt("/"))).toHaveLength(1);
    expect(pathsOf(allowed)).toEqual([workspace.root]);
  });

  it("are ignored if they are turned off", () => {
    for (const options of [{ configured: configured() }, {}]) {
      const allowed = allow({ ...options, mode: "off" });
      expect(allowed.setClientRoots(rootsAt(workspace.outside))).toEqual([]);
      expect(pathsOf(allowed)).toEqual(options.configured ? [workspace.root] : []);
    }
  });

  it("take precedence over the fallback, which is never a whole file system", () => {
    const allowed = allow({ fallback: workspace.root });
    expect(allowed.directories()).toMatchObject([
      { path: workspace.root, source: "working directory" },
    ]);
    allowed.setClientRoots(rootsAt(workspace.outside));
    expect(pathsOf(allowed)).toEqual([workspace.outside]);
    allowed.setClientRoots([]);
    expect(pathsOf(allowed)).toEqual([workspace.root]);
    expect(allow({ fallback: "/" }).directories()).toEqual([]);
  });

  /** `path` or `path:ro` (read-only). */
  const directory = (text: string): AllowedDirectory => {
    const [path = "", mode] = text.split(":");
    return { path, realPath: path, source: "argument", writable: mode !== "ro" };
  };
  it.each([
    ["narrow: inside", "/a", "/a/x", "/a/x", ""],
    ["narrow: around", "/a/b", "/a", "/a/b", ""],
    ["narrow: the whole disk", "/a /b", "/", "/a /b", ""],
    [
      "narrow: a sibling is outside",
      "/a/proj",
      "/a/proj-evil /a/proj/x",
      "/a/proj/x",
      "/a/proj-evil",
    ],
    ["narrow: in the order of the roots", "/a /b", "/b/y /a/x", "/b/y /a/x", ""],
    ["narrow: read-only inside", "/a /a/v:ro", "/a/v/x", "/a/v/x:ro", ""],
    ["narrow: read-only around", "/a /a/v:ro", "/a", "/a /a/v:ro", ""],
    ["narrow: read-only below", "/a /a/b/v:ro", "/a/b", "/a/b /a/b/v:ro", ""],
    ["narrow: a configured whole disk", "/", "/a", "/a", ""],
    ["replace: no whole file system", "/a", "/ /b", "/b", "/"],
    ["replace: unless one is configured", "/", "/", "/", ""],
    ["replace: read-only stays so", "/b/v:ro", "/b /b/v/x", "/b /b/v:ro /b/v/x:ro", ""],
  ])("%s", (rule, configured, roots, expected, ignored) => {
    const [base, offered] = [configured, roots].map((text) => text.split(" ").map(directory));
    const applied = withRoots(base ?? [], offered ?? [], rule.startsWith("replace"));
    const paths = applied.directories.map(({ path, writable }) => path + (writable ? "" : ":ro"));
    expect(paths.join(" ")).toBe(expected);
    expect(applied.ignored.map(({ path }) => path).join(" ")).toBe(ignored);
  });
});

it("describes the directories with remarks, or the option that helps, also in a path error", async () => {
  const { root, base, allowed } = workspace;
  expect(describeAllowed(allowed)).toBe(`the allowed directory is "${root}"`);
  expect(describeAllowed(allowlistOf(readOnly(root), join(base, "none")))).toBe(
    `the allowed directories are "${root}" (read-only) and "${base}/none" (does not exist)`,
  );
  const error = await refusal(createPathGuard(allowlistOf()).openFile("x"), "outside");
  expect(error.message).toContain("a directory argument or --root");
});
