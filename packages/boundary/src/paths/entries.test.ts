import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allowlistOf,
  makeWorkspace,
  namesBelow,
  readOnly,
  readThrough,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import { createPathGuard, type PathGuard, withHidden } from "./path-guard.ts";
import { copyTree } from "./tree.ts";
import type { AllowedDirectories, AllowedDirectory } from "./types.ts";

describe.each(verifications)("verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    root = workspace.root;
  });
  afterEach(() => workspace.remove());

  const guardOf = (allowed: AllowedDirectories) => createPathGuard(allowed, verification);

  describe("creating directories", () => {
    it("returns the created ones, outermost first, and nothing the second time", async () => {
      const paths = ["a", "a/b", "a/b/c"].map((path) => join(root, path));
      expect(await guard.createDirectory("a/b/c")).toEqual(paths);
      expect(await guard.createDirectory("a/b/c")).toEqual([]);
      expect(await guard.createDirectory("a/b/d")).toEqual([join(root, "a/b/d")]);
      expect(await guard.createDirectory(root)).toEqual([]);
      expect((await lstat(join(root, "a/b/c"))).mode).toBe((await lstat(workspace.outside)).mode);
    });

    it("may run concurrently: each directory is reported to one caller", async () => {
      const created = await Promise.all(
        Array.from({ length: 10 }, () => workspace.guard(verification).createDirectory("a/b/c/d")),
      );
      const paths = ["a", "a/b", "a/b/c", "a/b/c/d"].map((path) => join(root, path));
      expect(created.flat().sort()).toEqual(paths);
    });

    it("uses a directory in the other Unicode form, and follows symlinks inside, even dangling ones", async () => {
      await mkdir(join(root, "cafe\u0301"));
      await guard.createDirectory("caf\u00e9/x");
      await symlink("cafe\u0301", join(root, "link"));
      await symlink("link/missing", join(root, "dangling"));
      await guard.createDirectory("link/y");
      await guard.createDirectory("dangling/z");
      expect(await readdir(root)).toEqual(["cafe\u0301", "dangling", "link"]);
      expect(await namesBelow(join(root, "cafe\u0301"))).toEqual([
        "missing",
        "missing/z",
        "x",
        "y",
      ]);
    });

    it("is refused through links that lead outside, if a file is in the way, and if read-only", async () => {
      await symlink(workspace.outside, join(root, "link"));
      await symlink("../outside/new", join(root, "dangling"));
      await writeFile(join(root, "file"), "");
      const through = ["link/x", "link/x/y", "dangling", "dangling/x"];
      for (const path of [...through, "../outside/x", `${root}-evil`])
        await refusal(guard.createDirectory(path), "outside", path);
      for (const path of ["file", "file/x"])
        await refusal(guard.createDirectory(path), "not_directory");
      const fixed = guardOf(allowlistOf(readOnly(root)));
      await refusal(fixed.createDirectory("x/y"), "read_only");
      expect(await readdir(root)).toEqual(["dangling", "file", "link"]);
    });
  });

  describe("a place", () => {
    it("is an opened parent and a name, whether or not it exists; a symlink is not followed", async () => {
      await symlink(workspace.secret, join(root, "link"));
      for (const name of ["link", "nothing"]) {
        const place = await guard.place(name);
        expect(place).toMatchObject({ name, path: join(root, name) });
        expect(place.entry).toBe(place.parent.entry(name));
        expect(place.stat?.isSymbolicLink()).toBe(name === "link" ? true : undefined);
        await place.parent.close();
        // Its descriptor may be another directory's.
        if (verification === "proc") expect(() => place.parent.entry("x")).toThrow(/closed/);
      }
    });

    it("cannot be an allowed directory or, for changes, contain one", async () => {
      const [lib, vendor] = [join(root, "lib"), join(root, "lib", "vendor")];
      await mkdir(vendor, { recursive: true });
      const nested = guardOf(allowlistOf(root, readOnly(vendor)));
      for (const path of [root, lib, vendor])
        await refusal(nested.place(path, { write: true }), "allowed_directory", path);
      await (await nested.place("lib")).parent.close();
      await refusal(nested.place("lib/vendor/x", { write: true }), "read_only");
      await refusal(nested.place("/", { write: true }), "outside");
    });
  });

  /**
   * Imitates a file system that ignores case, which needs a mount: there, two names refer to one directory for
   * stat(2). Here the second name is a link that the allowed directories treat as a real path.
   */
  describe("a directory with two names", () => {
    /** All but the first are read-only. */
    function guardOfVariants(...paths: string[]): PathGuard {
      const directories = paths.map((path, index): AllowedDirectory => {
        return { path, realPath: path, source: "argument", writable: index === 0 };
      });
      return guardOf({ directories: () => directories, onChange: () => () => {} });
    }
    let other: string;
    beforeEach(async () => {
      other = join(workspace.base, "ROOT");
      await mkdir(join(root, "sub"));
      await writeFile(join(root, "sub", "a.txt"), "inside");
    });

    it("is recognized by device and inode, whichever name is used", async () => {
      await symlink("root", other);
      const guard = guardOfVariants(other);
      for (const path of ["sub/a.txt", join(other, "sub/a.txt"), join(root, "sub/a.txt")])
        expect(await readThrough(guard, path), path).toBe("inside");
      await (await guard.openDirectory(join(root, "sub"))).close();
      await guard.writeFile("sub/new.txt", Buffer.from("new"));
      expect(await readFile(join(root, "sub", "new.txt"), "utf8")).toBe("new");
      expect(await guard.createDirectory("sub/x")).toEqual([join(other, "sub", "x")]);
      await guard.move("sub/new.txt", "sub/x/moved.txt");
      expect(await readThrough(guard, "sub/x/moved.txt")).toBe("new");
    });

    it("is not confused with a directory whose name differs only in case", async () => {
      await mkdir(other);
      const guard = guardOfVariants(other);
      await refusal(guard.openFile(join(root, "sub", "a.txt")), "outside");
      await symlink(join(root, "sub"), join(other, "sub"));
      await refusal(guard.openFile("sub/a.txt"), "outside");
      await refusal(guard.openDirectory("sub"), "outside");
      await refusal(guard.writeFile("sub/new.txt", Buffer.from("")), "outside");
    });

    it("stays read-only under any name, and cannot be moved away", async () => {
      await symlink("sub", join(root, "SUB"));
      const guard = guardOfVariants(root, join(root, "SUB"));
      await refusal(guard.writeFile("sub/new.txt", Buffer.from("")), "read_only");
      await refusal(guard.createDirectory("sub/x"), "read_only");
      await refusal(guard.move("sub", "moved"), "allowed_directory");
      expect(await readThrough(guard, "sub/a.txt")).toBe("inside");
      await mkdir(join(root, "Sub"));
      await guard.writeFile("Sub/new.txt", Buffer.from("another directory"));
      await guard.move("Sub", "moved");
    });
  });

  describe("a hidden place", () => {
    let secret: string;
    beforeEach(async () => {
      secret = join(root, "dir", "secret");
      await mkdir(secret, { recursive: true });
      await writeFile(join(secret, "file"), "secret");
      await writeFile(join(root, "dir", "other"), "other");
      await symlink(secret, join(root, "link"));
      const hides = (path: string) => path === secret || path.startsWith(secret + sep);
      guard = guardOf(withHidden(workspace.allowed, { paths: [secret], hides }));
    });

    it("cannot be opened, written, created or moved, directly or through a link", async () => {
      const files = [join(secret, "file"), join(root, "link", "file")];
      const works: Promise<unknown>[] = files.flatMap((path) => [
        guard.openFile(path),
        guard.place(path),
        guard.writeFile(path, Buffer.from("x")),
        guard.updateFile(path, async () => {}),
        guard.move(path, join(root, "out")),
        guard.move(join(root, "dir", "other"), path),
      ]);
      works.push(guard.openDirectory(secret), guard.createDirectory(join(secret, "new")));
      works.push(guard.move(join(root, "dir"), join(root, "moved")));
      for (const result of await Promise.allSettled(works))
        expect(result).toMatchObject({ status: "rejected", reason: { kind: "denied" } });
      expect(guard.contains(join(secret, "file"))).toBe(false);
      expect(await readFile(join(secret, "file"), "utf8")).toBe("secret");
      expect(await readdir(secret)).toEqual(["file"]);
    });

    it("is left out of a copy of a directory around it", async () => {
      const from = await guard.openDirectory(join(root, "dir"));
      const to = await guard.openDirectory(root);
      await copyTree(
        { directory: guard.walk(from), name: ".", path: join(root, "dir") },
        { directory: guard.walk(to), name: "copy", path: join(root, "copy") },
      );
      expect(await readdir(join(root, "copy"))).toEqual(["other"]);
      for (const directory of [from, to]) await directory.close();
    });
  });
});
