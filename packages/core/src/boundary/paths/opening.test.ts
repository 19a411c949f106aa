import { link, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  boundOf,
  guardOf,
  makeWorkspace,
  readThrough,
  refusal,
  verifications,
  type Workspace,
} from "../../../test/fixtures/boundary.ts";
import type { PathGuard } from "./types.ts";

describe.each(verifications)("opening, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    root = workspace.root;
    await writeFile(join(root, "a.txt"), "hello");
    await mkdir(join(root, "sub"));
    await writeFile(join(root, "sub", "b.txt"), "below");
  });
  afterEach(() => workspace.remove());

  describe("what is inside", () => {
    it("is opened and described", async () => {
      const file = await guard.openFile("sub/../a.txt");
      expect(file).toMatchObject({
        path: join(root, "a.txt"),
        realPath: join(root, "a.txt"),
        directory: { path: root },
        stat: { size: 5, nlink: 1 },
      });
      expect(await file.handle.readFile("utf8")).toBe("hello");
      await file.handle.close();
      const directory = await guard.openDirectory(root);
      expect(directory).toMatchObject({ path: root, realPath: root, directory: { path: root } });
      expect(await readFile(directory.entry("a.txt"), "utf8")).toBe("hello");
      for (const name of [".", "..", "sub/b.txt", "a\0"])
        expect(() => directory.entry(name)).toThrow(TypeError);
      await directory.verify();
      await directory.close();
      await directory.close();
    });

    it("is found by an absolute path, a relative one and a file URI", async () => {
      for (const path of [join(root, "a.txt"), "a.txt", "./a.txt", pathToFileURL(join(root, "a.txt")).href]) {
        expect(await readThrough(guard, path)).toBe("hello");
      }
    });

    it("is searched for in the directories in order", async () => {
      const second = join(workspace.base, "second");
      await mkdir(second);
      await writeFile(join(second, "only-here.txt"), "second");
      await writeFile(join(second, "a.txt"), "second");
      const bound = boundOf({ path: root, source: "argument" }, { path: second, source: "argument" });
      const both = guardOf(bound, verification);
      expect(await readThrough(both, "a.txt")).toBe("hello");
      expect(await readThrough(both, "only-here.txt")).toBe("second");
      expect(await both.resolve("nowhere.txt")).toBe(join(root, "nowhere.txt"));
      expect(await both.resolve(`../${basename(second)}/new.txt`)).toBe(join(second, "new.txt"));
    });

    it("is opened through links that stay inside, in chains too", async () => {
      await symlink("a.txt", join(root, "one"));
      await symlink(join(root, "one"), join(root, "two"));
      await symlink("sub", join(root, "dir"));
      await symlink("../dir/b.txt", join(root, "sub", "up"));
      for (const path of ["one", "two"]) expect(await readThrough(guard, path)).toBe("hello");
      for (const path of ["dir/b.txt", "sub/up", "dir/up"])
        expect(await readThrough(guard, path)).toBe("below");
      const file = await guard.openFile("dir/up");
      expect(file).toMatchObject({ path: join(root, "dir", "up"), realPath: join(root, "sub", "b.txt") });
      await file.handle.close();
    });

    it("is found whether a name is stored as NFC or NFD", async () => {
      await mkdir(join(root, "re\u0301sume\u0301"));
      await writeFile(join(root, "re\u0301sume\u0301", "\u00fcber.txt"), "forms");
      expect(await readThrough(guard, "r\u00e9sum\u00e9/u\u0308ber.txt")).toBe("forms");
      await (await guard.openDirectory("r\u00e9sum\u00e9")).close();
      await writeFile(join(root, "\u00fcber.txt"), "composed");
      await writeFile(join(root, "u\u0308ber.txt"), "decomposed");
      expect(await readThrough(guard, "u\u0308ber.txt")).toBe("decomposed");
      expect(await readThrough(guard, "\u00fcber.txt")).toBe("composed");
    });

    it("is read by its name, with literal percent signs", async () => {
      await writeFile(join(root, "%2e%2e%2fsecret.txt"), "literal");
      expect(await readThrough(guard, "%2e%2e%2fsecret.txt")).toBe("literal");
      expect(await refusal(guard.openFile("..%2foutside%2fsecret.txt"))).toMatchObject({ kind: "not_found" });
    });

    it("may be a hard link, as shown by the link count", async () => {
      await link(workspace.secret, join(root, "hard"));
      const file = await guard.openFile("hard");
      expect(file.stat.nlink).toBe(2);
      await file.handle.close();
    });

    it("is reported by `contains`, and nothing else is", () => {
      expect(guard.contains(root)).toBe(true);
      expect(guard.contains(join(root, "x", "y"))).toBe(true);
      expect(guard.contains(`${root}-evil`)).toBe(false);
      expect(guard.contains(workspace.base)).toBe(false);
    });
  });

  it("recognizes an allowed directory by all its names", async () => {
    const link = join(workspace.base, "link");
    await symlink(root, link);
    await symlink(workspace.base, join(workspace.base, "above"));
    const linked = guardOf(boundOf({ path: link, source: "argument" }), verification);
    const names = [join(link, "a.txt"), join(root, "a.txt"), join(workspace.base, "above", "root", "a.txt")];
    for (const path of [...names, "a.txt"]) expect(await readThrough(linked, path)).toBe("hello");
    expect(await linked.resolve(join(workspace.base, "above", "link", "sub", "x"))).toBe(
      join(root, "sub", "x"),
    );
    expect(
      await refusal(linked.openFile(join(workspace.base, "above", "outside", "secret.txt"))),
    ).toMatchObject({
      code: "outside",
    });
  });
});
