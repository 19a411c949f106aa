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
  guardOf,
  makeWorkspace,
  namesBelow,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";
import type { PathGuard } from "./path-guard.ts";

describe.each(verifications)("moving to another file system, verified by %s", (verification) => {
  let here: Workspace;
  let there: Workspace;
  let guard: PathGuard;
  beforeEach(async () => {
    here = await makeWorkspace();
    there = await makeWorkspace(elsewhere);
    expect((await stat(here.root)).dev).not.toBe((await stat(there.root)).dev);
    guard = guardOf(
      allowlistOf(
        { path: here.root, source: "argument" },
        { path: there.root, source: "argument" },
      ),
      verification,
    );
    await writeFile(join(here.root, "a"), Buffer.alloc(2_500_000, "a"));
  });
  afterEach(async () => {
    for (const { outside, secret } of [here, there]) {
      expect(await readdir(outside)).toEqual(["secret.txt"]);
      expect(await readFile(secret, "utf8")).toBe("SECRET");
    }
    await here.remove();
    await there.remove();
  });

  async function names({ root }: Workspace): Promise<string> {
    return (await namesBelow(root)).join(" ");
  }
  const from = (name: string) => join(here.root, name);
  const to = (name: string) => join(there.root, name);

  it("copies a file with mode and times, then removes the source", async () => {
    await chmod(from("a"), 0o640);
    await utimes(from("a"), 1_000_000_000, 1_100_000_000);
    await guard.move(from("a"), to("b"));
    expect(await names(here)).toBe("");
    expect(await names(there)).toBe("b");
    expect(await stat(to("b"))).toMatchObject({
      size: 2_500_000,
      mtimeMs: 1_100_000_000_000,
      mode: 0o100640,
    });
  });

  it("copies a tree, its links as links", async () => {
    await mkdir(from("dir/sub"), { recursive: true });
    await writeFile(from("dir/sub/x"), "X");
    await symlink(here.outside, from("dir/out"));
    await symlink("sub/x", from("dir/in"));
    await chmod(from("dir"), 0o750);
    await guard.move(from("dir"), to("moved"));
    expect(await names(here)).toBe("a");
    expect(await names(there)).toBe("moved moved/in moved/out moved/sub moved/sub/x");
    expect(await readlink(to("moved/out"))).toBe(here.outside);
    expect(await readFile(to("moved/in"), "utf8")).toBe("X");
    expect((await stat(to("moved"))).mode & 0o777).toBe(0o750);
  });

  it("copies hard links as separate files, and removes both", async () => {
    await mkdir(from("dir"));
    await link(from("a"), from("dir/x"));
    await link(from("a"), from("dir/y"));
    await guard.move(from("dir"), to("dir"));
    expect(await names(there)).toBe("dir dir/x dir/y");
    expect(await names(here)).toBe("a");
  });

  it("moves a link as a link", async () => {
    await symlink("nothing", from("link"));
    await guard.move(from("link"), to("link"));
    expect(await readlink(to("link"))).toBe("nothing");
    expect(await names(here)).toBe("a");
  });

  it("replaces nothing unless requested", async () => {
    await writeFile(to("b"), "B");
    expect(await refusal(guard.move(from("a"), to("b")))).toMatchObject({
      kind: "conflict",
      code: "eexist",
    });
    expect(await names(here)).toBe("a");
    expect(await readFile(to("b"), "utf8")).toBe("B");
    await guard.move(from("a"), to("b"), { overwrite: true });
    expect((await stat(to("b"))).size).toBe(2_500_000);
    expect(await names(there)).toBe("b");
    expect(await names(here)).toBe("");
  });

  it("lets exactly one of many concurrent moves get a name, and loses no file", async () => {
    const count = 12;
    for (let index = 0; index < count; index++) await writeFile(from(`f${index}`), `${index}`);
    const results = await Promise.allSettled(
      Array.from({ length: count }, (_, index) => guard.move(from(`f${index}`), to("target"))),
    );
    const winners = results.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(await readFile(to("target"), "utf8")).toBe(`${winners[0]}`);
    expect(await names(there)).toBe("target");
    expect(await readdir(here.root)).toHaveLength(count);
  });

  it("leaves source and target unchanged if something cannot be copied", async () => {
    await mkdir(from("dir"));
    await writeFile(from("dir/x"), "X");
    execFileSync("mkfifo", [from("dir/pipe")]);
    expect(await refusal(guard.move(from("dir"), to("dir")))).toMatchObject({
      kind: "denied",
      code: "special_file",
    });
    expect(await names(here)).toBe("a dir dir/pipe dir/x");
    expect(await names(there)).toBe("");
  });

  it("leaves them unchanged if the disk fills up", async () => {
    const limit = (bytes: string) =>
      execFileSync("prlimit", ["--pid", `${process.pid}`, `--fsize=${bytes}:`]);
    limit("65536");
    try {
      expect(await refusal(guard.move(from("a"), to("b")))).toMatchObject({ kind: "too_large" });
    } finally {
      limit("unlimited");
    }
    expect((await stat(from("a"))).size).toBe(2_500_000);
    expect(await names(there)).toBe("");
  });
});
