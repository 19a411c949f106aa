import { execFileSync } from "node:child_process";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  boundOf,
  guardOf,
  makeWorkspace,
  namesBelow,
  refusal,
  verifications,
  type Workspace,
} from "../../../test/fixtures/boundary.ts";
import type { PathGuard } from "./types.ts";

describe.each(verifications)("failing to write a file, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  let root: string;
  beforeEach(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    root = workspace.root;
  });
  afterEach(() => workspace.remove());

  /** Everything below the root and what is outside: no attempt may leave anything else behind. */
  async function names(): Promise<string[]> {
    expect(await readdir(workspace.outside)).toEqual(["secret.txt"]);
    expect(await readFile(workspace.secret, "utf8")).toBe("SECRET");
    return namesBelow(root);
  }

  // Each leaves nothing behind.
  it("on a directory or a FIFO", async () => {
    await mkdir(join(root, "dir"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect(await refusal(guard.writeFile("dir", Buffer.from("")))).toMatchObject({ kind: "invalid" });
    expect(await refusal(guard.writeFile("pipe", Buffer.from("")))).toMatchObject({ kind: "denied" });
    expect((await lstat(join(root, "pipe"))).isFIFO()).toBe(true);
    expect(await refusal(guard.writeFile(root, Buffer.from("")))).toMatchObject({ kind: "denied" });
    expect(await names()).toEqual(["dir", "pipe"]);
  });

  it("on a read-only directory, which the error names", async () => {
    const guarded = guardOf(
      boundOf(
        { path: root, source: "argument" },
        { path: join(root, "vendor"), source: "argument", writable: false },
      ),
      verification,
    );
    await mkdir(join(root, "vendor"));
    await symlink("vendor/new.txt", join(root, "into"));
    for (const path of ["vendor/new.txt", "vendor/x/new.txt", "into"]) {
      const error = await refusal(guarded.writeFile(path, Buffer.from(""), { createParents: true }));
      expect(error).toMatchObject({ kind: "denied", code: "read_only" });
      expect(error.message).toContain(`"${join(root, "vendor")}"`);
    }
    expect(await names()).toEqual(["into", "vendor"]);
    await guarded.writeFile("new.txt", Buffer.from("next to it"));
  });

  it("when its parents were created for it", async () => {
    const work = guard.writeFile("x/y/new.txt", Buffer.from(""), {
      createParents: true,
      check: () => Promise.reject(new Error("refused")),
    });
    await expect(work).rejects.toThrow("refused");
    expect(await names()).toEqual([]);
  });

  it("when a directory takes the name at the last moment", async () => {
    const work = guard.writeFile("new.txt", Buffer.from(""), { check: () => mkdir(join(root, "new.txt")) });
    expect(await refusal(work)).toMatchObject({ kind: "conflict" });
    expect(await names()).toEqual(["new.txt"]);
  });

  it("when the disk fills up", async () => {
    await writeFile(join(root, "old.txt"), "old");
    const limit = (bytes: string) =>
      execFileSync("prlimit", ["--pid", `${process.pid}`, `--fsize=${bytes}:`]);
    limit("65536");
    try {
      const big = Buffer.alloc(1_000_000, "x");
      expect(await refusal(guard.writeFile("old.txt", big))).toMatchObject({ kind: "too_large" });
      expect(await refusal(guard.writeFile("x/new.txt", big, { createParents: true }))).toMatchObject({
        kind: "too_large",
      });
    } finally {
      limit("unlimited");
    }
    expect(await readFile(join(root, "old.txt"), "utf8")).toBe("old");
    expect(await names()).toEqual(["old.txt"]);
  });
});
