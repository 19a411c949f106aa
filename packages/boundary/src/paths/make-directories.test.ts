import { lstat, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allowlistOf,
  guardOf,
  makeWorkspace,
  namesBelow,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import type { PathGuard } from "./path-guard.ts";

describe.each(verifications)("creating directories, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    root = workspace.root;
  });
  afterEach(async () => {
    expect(await readdir(workspace.outside)).toEqual(["secret.txt"]);
    await workspace.remove();
  });

  it("returns the created ones, outermost first, and nothing the second time", async () => {
    expect(await guard.createDirectory("a/b/c")).toEqual([
      join(root, "a"),
      join(root, "a/b"),
      join(root, "a/b/c"),
    ]);
    expect(await guard.createDirectory("a/b/c")).toEqual([]);
    expect(await guard.createDirectory("a/b/d")).toEqual([join(root, "a/b/d")]);
    expect(await guard.createDirectory(root)).toEqual([]);
    expect((await lstat(join(root, "a/b/c"))).mode).toBe((await lstat(workspace.outside)).mode);
  });

  it("may run concurrently: each directory is reported to one caller", async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, () => workspace.guard(verification).createDirectory("a/b/c/d")),
    );
    expect(made.flat().sort()).toEqual(
      ["a", "a/b", "a/b/c", "a/b/c/d"].map((path) => join(root, path)),
    );
  });

  it("uses a directory that is stored in the other Unicode form", async () => {
    await mkdir(join(root, "cafe\u0301"));
    await guard.createDirectory("caf\u00e9/x");
    expect(await readdir(root)).toEqual(["cafe\u0301"]);
    expect(await readdir(join(root, "cafe\u0301"))).toEqual(["x"]);
  });

  it("follows symlinks that stay inside, even dangling ones", async () => {
    await mkdir(join(root, "real"));
    await symlink("real", join(root, "link"));
    await symlink("real/missing", join(root, "dangling"));
    await guard.createDirectory("link/x");
    await guard.createDirectory("dangling/y");
    expect(await namesBelow(join(root, "real"))).toEqual(["missing", "missing/y", "x"]);
  });

  it("is denied through links that lead outside", async () => {
    await symlink(workspace.outside, join(root, "link"));
    await symlink("../outside/new", join(root, "dangling"));
    for (const path of [
      "link/x",
      "link/x/y",
      "dangling",
      "dangling/x",
      "../outside/x",
      `${root}-evil`,
    ]) {
      expect(await refusal(guard.createDirectory(path)), path).toMatchObject({
        kind: "denied",
        code: "outside",
      });
    }
  });

  it("is refused if a file is in the way", async () => {
    await writeFile(join(root, "file"), "");
    expect(await refusal(guard.createDirectory("file"))).toMatchObject({
      kind: "invalid",
      code: "not_directory",
    });
    expect(await refusal(guard.createDirectory("file/x"))).toMatchObject({
      kind: "invalid",
      code: "not_directory",
    });
  });

  it("is denied in a read-only directory", async () => {
    const readOnly = guardOf(
      allowlistOf({ path: root, source: "argument", writable: false }),
      verification,
    );
    expect(await refusal(readOnly.createDirectory("x/y"))).toMatchObject({
      kind: "denied",
      code: "read_only",
    });
    expect(await readdir(root)).toEqual([]);
  });
});

describe.each(verifications)("a place, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    await symlink(workspace.secret, join(workspace.root, "link"));
  });
  afterEach(() => workspace.remove());

  it("is an opened parent and a name, whatever is there; a symlink is not followed", async () => {
    for (const name of ["link", "nothing"]) {
      const place = await guard.place(name);
      expect(place).toMatchObject({ name, path: join(workspace.root, name) });
      expect(place.entry).toBe(place.parent.entry(name));
      expect(place.stat?.isSymbolicLink()).toBe(name === "link" ? true : undefined);
      await place.parent.close();
    }
  });

  it("cannot be an allowed directory or, for changes, contain one", async () => {
    const { root } = workspace;
    await mkdir(join(root, "lib", "vendor"), { recursive: true });
    const nested = guardOf(
      allowlistOf(
        { path: root, source: "argument" },
        { path: join(root, "lib", "vendor"), source: "argument", writable: false },
      ),
      verification,
    );
    for (const path of [root, join(root, "lib"), join(root, "lib", "vendor")]) {
      expect(await refusal(nested.place(path, { write: true })), path).toMatchObject({
        kind: "denied",
        code: "allowed_directory",
      });
    }
    const looked = await nested.place("lib");
    await looked.parent.close();
    expect(await refusal(nested.place("lib/vendor/x", { write: true }))).toMatchObject({
      code: "read_only",
    });
    expect(await refusal(nested.place("/", { write: true }))).toMatchObject({
      kind: "denied",
      code: "outside",
    });
  });

  it("cannot be used after it was closed, when its descriptor may be another directory's", async () => {
    if (verification === "portable") return;
    const place = await guard.place("x");
    await place.parent.close();
    expect(() => place.parent.entry("x")).toThrow(/closed/);
  });
});
