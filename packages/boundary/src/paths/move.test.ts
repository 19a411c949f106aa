import { execFileSync } from "node:child_process";
import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
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

describe.each(verifications)("moving, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    root = workspace.root;
    await writeFile(join(root, "a"), "A");
    await writeFile(join(root, "b"), "B");
    await mkdir(join(root, "dir"));
    await writeFile(join(root, "dir", "x"), "X");
    await mkdir(join(root, "empty"));
  });
  afterEach(async () => {
    expect(await readdir(workspace.outside)).toEqual(["secret.txt"]);
    expect(await readFile(workspace.secret, "utf8")).toBe("SECRET");
    await workspace.remove();
  });

  async function names(): Promise<string> {
    return (await namesBelow(root)).join(" ");
  }
  function read(path: string): Promise<string> {
    return readFile(join(root, path), "utf8");
  }

  it("gives a file or a directory another name", async () => {
    await guard.move("a", "dir/c");
    await guard.move("dir", "empty/d");
    expect(await names()).toBe("b empty empty/d empty/d/c empty/d/x");
    expect(await read("empty/d/c")).toBe("A");
  });

  it("moves a symlink itself, wherever it leads, with its text unchanged", async () => {
    await symlink("../outside/secret.txt", join(root, "out"));
    await symlink("nothing", join(root, "broken"));
    await guard.move("out", "dir/out");
    await guard.move("broken", "b", { overwrite: true });
    expect(await readlink(join(root, "dir", "out"))).toBe("../outside/secret.txt");
    expect(await readlink(join(root, "b"))).toBe("nothing");
    expect(await names()).toBe("a b dir dir/out dir/x empty");
  });

  it("replaces nothing unless requested", async () => {
    await symlink(workspace.secret, join(root, "link"));
    const before = await names();
    for (const [from, to] of [
      ["a", "b"],
      ["a", "dir"],
      ["a", "empty"],
      ["a", "link"],
      ["dir", "a"],
      ["dir", "empty"],
      ["link", "a"],
      ["a", "dir/x"],
    ] as const) {
      expect(await refusal(guard.move(from, to)), `${from} ${to}`).toMatchObject({
        kind: "conflict",
      });
    }
    expect(await names()).toBe(before);
    expect(await read("b")).toBe("B");
  });

  it("replaces a file with a file, a symlink itself, an empty directory with a directory", async () => {
    await symlink(workspace.secret, join(root, "link"));
    await guard.move("a", "link", { overwrite: true });
    expect((await lstat(join(root, "link"))).isFile()).toBe(true);
    await guard.move("link", "b", { overwrite: true });
    expect(await read("b")).toBe("A");
    await guard.move("dir", "empty", { overwrite: true });
    expect(await names()).toBe("b empty empty/x");
  });

  it("never replaces a non-empty directory, or a file with a directory or vice versa", async () => {
    const before = await names();
    const move = (from: string, to: string) => refusal(guard.move(from, to, { overwrite: true }));
    expect(await move("empty", "dir")).toMatchObject({ kind: "conflict", code: "enotempty" });
    expect(await move("dir", "a")).toMatchObject({ kind: "conflict" });
    expect(await move("a", "empty")).toMatchObject({ kind: "invalid", code: "is_directory" });
    expect(await names()).toBe(before);
  });

  it("lets exactly one of many concurrent moves get a name, and loses no file", async () => {
    const count = 30;
    for (let index = 0; index < count; index++)
      await writeFile(join(root, "dir", `f${index}`), `${index}`);
    const results = await Promise.allSettled(
      Array.from({ length: count }, (_, index) =>
        workspace.guard(verification).move(`dir/f${index}`, "target"),
      ),
    );
    const winners = results.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(await read("target")).toBe(`${winners[0]}`);
    expect(await readdir(join(root, "dir"))).toHaveLength(count);
    for (const result of results) {
      if (result.status === "rejected")
        expect(result.reason).toMatchObject({ kind: "conflict", code: "eexist" });
    }
  });

  it("lets exactly one of many directories get a name, even empty ones", async () => {
    const count = 20;
    for (let index = 0; index < count; index++) await mkdir(join(root, "dir", `d${index}`));
    const results = await Promise.allSettled(
      Array.from({ length: count }, (_, index) =>
        workspace.guard(verification).move(`dir/d${index}`, "target"),
      ),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await readdir(join(root, "dir"))).toHaveLength(count);
    expect(await readdir(join(root, "target"))).toEqual([]);
  });

  it("changes the case of a name, and distinguishes files that differ only in case", async () => {
    await guard.move("a", "A");
    expect(await names()).toBe("A b dir dir/x empty");
    await link(join(root, "A"), join(root, "a"));
    expect(await refusal(guard.move("A", "a"))).toMatchObject({ kind: "conflict" });
    await guard.move("A", "a", { overwrite: true });
    expect(await names()).toBe("a b dir dir/x empty");
    await guard.move("a", "a");
    expect(await read("a")).toBe("A");
  });

  it("refuses to move a directory into itself, even through a link", async () => {
    await symlink("dir", join(root, "link"));
    for (const to of ["dir/dir", "dir/x/y", "link/dir"]) {
      const error = await refusal(guard.move("dir", to));
      expect(error.kind, to).toBe("invalid");
    }
    expect(await names()).toBe("a b dir dir/x empty link");
  });

  it("reports which path is missing", async () => {
    expect((await refusal(guard.move("none", "c"))).message).toContain(
      `"${root}/none" does not exist`,
    );
    expect((await refusal(guard.move("a", "none/c"))).message).toContain(
      `"${root}/none" does not exist`,
    );
    expect(await names()).toBe("a b dir dir/x empty");
  });

  it("stays inside, and out of read-only and allowed directories", async () => {
    await symlink(workspace.outside, join(root, "link"));
    await mkdir(join(root, "lib", "vendor"), { recursive: true });
    const nested = guardOf(
      allowlistOf(
        { path: root, source: "argument" },
        { path: join(root, "lib", "vendor"), source: "argument", writable: false },
      ),
      verification,
    );
    for (const [from, to, code] of [
      ["a", "../outside/a", "outside"],
      ["a", "link/a", "outside"],
      ["link/secret.txt", "stolen", "outside"],
      [workspace.secret, "stolen", "outside"],
      ["a", "lib/vendor/a", "read_only"],
      ["lib/vendor", "vendor", "allowed_directory"],
      ["lib", "library", "allowed_directory"],
      [root, "x", "allowed_directory"],
    ] as const) {
      expect(await refusal(nested.move(from, to)), `${from} ${to}`).toMatchObject({
        kind: "denied",
        code,
      });
    }
    expect(await names()).toBe("a b dir dir/x empty lib lib/vendor link");
  });

  it("refuses anything other than files, directories and symlinks", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(await refusal(guard.move("pipe", "c"))).toMatchObject({
      kind: "denied",
      code: "special_file",
    });
  });

  it("keeps the file itself: inode, mode and times", async () => {
    const before = await stat(join(root, "a"));
    await guard.move("a", "c");
    const { ino, mode, mtimeMs, nlink } = await stat(join(root, "c"));
    expect({ ino, mode, mtimeMs, nlink }).toEqual({
      ino: before.ino,
      mode: before.mode,
      mtimeMs: before.mtimeMs,
      nlink: 1,
    });
  });
});
