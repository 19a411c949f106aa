import { execFileSync } from "node:child_process";
import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  allowlistOf,
  elsewhere,
  makeWorkspace,
  namesBelow,
  readOnly,
  refusal,
  verifications,
  type Workspace,
  winnersOf,
} from "../../test/fixtures/boundary.ts";
import { createPathGuard, type PathGuard } from "./path-guard.ts";

describe.each(verifications)("moving, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    root = workspace.root;
    for (const name of ["dir", "empty"]) await mkdir(join(root, name));
    for (const name of ["a", "b", "dir/x"]) await writeFile(join(root, name), name);
  });
  afterEach(() => workspace.remove());

  const names = async () => (await namesBelow(root)).join(" ");
  const read = (path: string) => readFile(join(root, path), "utf8");

  it("gives a file or a directory another name, and keeps the file: inode, mode and times", async () => {
    const { ino, mode, mtimeMs } = await stat(join(root, "a"));
    await guard.move("a", "dir/c");
    await guard.move("dir", "empty/d");
    expect(await names()).toBe("b empty empty/d empty/d/c empty/d/x");
    const moved = await stat(join(root, "empty/d/c"));
    expect(moved).toMatchObject({ ino, mode, mtimeMs, nlink: 1 });
  });

  it("moves a symlink itself, wherever it leads, with its text unchanged", async () => {
    for (const target of ["../outside/secret.txt", "nothing"]) {
      await symlink(target, join(root, "link"));
      await guard.move("link", `dir/${target.slice(-3)}`);
      expect(await readlink(join(root, "dir", target.slice(-3)))).toBe(target);
    }
    expect(await names()).toBe("a b dir dir/ing dir/txt dir/x empty");
  });

  it("replaces nothing", async () => {
    await symlink(workspace.secret, join(root, "link"));
    const before = await names();
    for (const from of ["a", "dir", "link"])
      for (const to of ["a", "b", "dir", "empty", "link", "dir/x"].filter((to) => to !== from))
        if (from !== "dir" || to !== "dir/x")
          await refusal(guard.move(from, to), "eexist", `${from} ${to}`);
    expect(await names()).toBe(before);
    expect(await read("b")).toBe("b");
  });

  it.each([
    ["files", (path: string) => writeFile(path, path)],
    ["empty directories", (path: string) => mkdir(path)],
  ])("lets exactly one of many %s get a name, and loses nothing", async (_, make) => {
    const sources = Array.from({ length: 30 }, (_, index) => join(root, "empty", `${index}`));
    for (const source of sources) await make(source);
    const winners = await winnersOf(
      sources.map((source) => workspace.guard(verification).move(source, "target")),
    );
    expect(winners).toHaveLength(1);
    expect(await readdir(join(root, "empty"))).toHaveLength(sources.length - 1);
    if ((await stat(join(root, "target"))).isFile())
      expect(await read("target")).toBe(sources[winners[0] ?? 0]);
  });

  it("changes the case of a name, and distinguishes files that differ only in case", async () => {
    await guard.move("a", "A");
    expect(await names()).toBe("A b dir dir/x empty");
    await link(join(root, "A"), join(root, "a"));
    await refusal(guard.move("A", "a"), "eexist");
    await guard.move("A", "A");
    expect(await names()).toBe("A a b dir dir/x empty");
  });

  it("refuses to move a directory into itself, even through a link, or a FIFO", async () => {
    await symlink("dir", join(root, "link"));
    await refusal(guard.move("dir", "dir/dir"), "into_itself");
    await refusal(guard.move("dir", "link/dir"), "into_itself");
    await refusal(guard.move("dir", "dir/x/y"), "not_directory");
    execFileSync("mkfifo", [join(root, "pipe")]);
    await refusal(guard.move("pipe", "c"), "special_file");
    expect(await names()).toBe("a b dir dir/x empty link pipe");
  });

  it("stays inside, and out of read-only and allowed directories", async () => {
    await symlink(workspace.outside, join(root, "link"));
    const vendor = join(root, "lib", "vendor");
    await mkdir(vendor, { recursive: true });
    const nested = createPathGuard(allowlistOf(root, readOnly(vendor)), verification);
    for (const [from, to, code] of [
      ["none", "c", "enoent"],
      ["a", "none/c", "enoent"],
      ["a", "../outside/a", "outside"],
      ["a", "link/a", "outside"],
      ["link/secret.txt", "stolen", "outside"],
      [workspace.secret, "stolen", "outside"],
      ["a", "lib/vendor/a", "read_only"],
      ["lib/vendor", "vendor", "allowed_directory"],
      ["lib", "library", "allowed_directory"],
      [root, "x", "allowed_directory"],
    ] as const)
      await refusal(nested.move(from, to), code, `${from} ${to}`);
    expect(await names()).toBe("a b dir dir/x empty lib lib/vendor link");
  });
});

describe.each(verifications)("moving to another file system, verified by %s", (verification) => {
  let here: Workspace;
  let there: Workspace;
  let guard: PathGuard;
  beforeEach(async () => {
    here = await makeWorkspace();
    there = await makeWorkspace(elsewhere);
    expect((await stat(here.root)).dev).not.toBe((await stat(there.root)).dev);
    guard = createPathGuard(allowlistOf(here.root, there.root), verification);
    await writeFile(from("a"), Buffer.alloc(2_500_000, "a"));
    await mkdir(from("dir/sub"), { recursive: true });
    await writeFile(from("dir/sub/x"), "X");
  });
  afterEach(async () => {
    await here.remove();
    await there.remove();
  });

  const names = async ({ root }: Workspace) => (await namesBelow(root)).join(" ");
  const from = (name: string) => join(here.root, name);
  const to = (name: string) => join(there.root, name);

  it("copies a file with mode and times, then removes the source", async () => {
    await chmod(from("a"), 0o640);
    await utimes(from("a"), 1_000_000_000, 1_100_000_000);
    await guard.move(from("a"), to("b"));
    expect(await names(here)).toBe("dir dir/sub dir/sub/x");
    expect(await names(there)).toBe("b");
    const expected = { size: 2_500_000, mtimeMs: 1_100_000_000_000, mode: 0o100640 };
    expect(await stat(to("b"))).toMatchObject(expected);
  });

  it("copies a tree, its links as links, its hard links as separate files", async () => {
    await symlink(here.outside, from("dir/out"));
    await symlink("sub/x", from("dir/in"));
    await link(from("dir/sub/x"), from("dir/y"));
    await chmod(from("dir"), 0o750);
    await guard.move(from("dir"), to("moved"));
    expect(await names(here)).toBe("a");
    expect(await names(there)).toBe("moved moved/in moved/out moved/sub moved/sub/x moved/y");
    expect(await readlink(to("moved/out"))).toBe(here.outside);
    expect(await readFile(to("moved/in"), "utf8")).toBe("X");
    expect((await stat(to("moved"))).mode & 0o777).toBe(0o750);
    await symlink("nothing", from("link"));
    await guard.move(from("link"), to("link"));
    expect(await readlink(to("link"))).toBe("nothing");
  });

  it("lets exactly one of many concurrent moves get a name, and loses no file", async () => {
    const sources = Array.from({ length: 12 }, (_, index) => from(`dir/sub/${index}`));
    for (const source of sources) await writeFile(source, source);
    const winners = await winnersOf(sources.map((source) => guard.move(source, to("target"))));
    expect(winners).toHaveLength(1);
    expect(await readFile(to("target"), "utf8")).toBe(sources[winners[0] ?? 0]);
    expect(await names(there)).toBe("target");
    expect(await readdir(from("dir/sub"))).toHaveLength(sources.length);
  });

  it("leaves source and target unchanged if something cannot be copied, or the disk fills up", async () => {
    execFileSync("mkfifo", [from("dir/pipe")]);
    await refusal(guard.move(from("dir"), to("dir")), "special_file");
    const limit = (bytes: string) =>
      execFileSync("prlimit", ["--pid", `${process.pid}`, `--fsize=${bytes}:`]);
    limit("65536");
    await refusal(guard.move(from("a"), to("b")), "efbig").finally(() => limit("unlimited"));
    expect((await stat(from("a"))).size).toBe(2_500_000);
    expect(await names(here)).toBe("a dir dir/pipe dir/sub dir/sub/x");
    expect(await names(there)).toBe("");
  });
});
