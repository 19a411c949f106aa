import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  allowlistOf,
  elsewhere,
  makeWorkspace,
  refusal,
  verifications,
  type Workspace,
  winnersOf,
} from "../../test/fixtures/boundary.ts";
import { createPathGuard, type PathGuard } from "./path-guard.ts";

/** Permission bits do not apply to root, so the process of this file permanently gives up root. */
const nobody = 65534;

/** Names of different lengths; each file contains its own name. */
const privates = Array.from({ length: 10 }, (_, index) => "p".repeat(index + 1));

describe.each(verifications)("permissions, verified by %s", (verification) => {
  let workspace: Workspace;
  let guard: PathGuard;
  const at = (name: string) => join(workspace.root, name);
  beforeAll(async () => {
    workspace = await makeWorkspace();
    guard = workspace.guard(verification);
    await writeFile(at("foreign.txt"), "old");
    await chmod(at("foreign.txt"), 0o4666);
    // fs.protected_hardlinks: only files that a user may read and write can be linked.
    for (const name of ["private.txt", ...privates])
      await writeFile(at(name), name, { mode: 0o600 });
    for (const name of ["closed", "fixed"]) await mkdir(at(name));
    const own = ["unreadable.txt", "protected.txt", "fixed/here.txt"];
    for (const name of [...own, "closed/a.txt"]) await writeFile(at(name), "old");
    if (process.getuid?.() === 0) {
      const { base, root, outside, secret } = workspace;
      const names = ["closed", "fixed", ...own].map(at);
      for (const path of [base, root, outside, secret, ...names]) await chown(path, nobody, nobody);
      process.setgid?.(nobody);
      process.setuid?.(nobody);
    }
    await chmod(at("unreadable.txt"), 0o200);
    await chmod(at("protected.txt"), 0o444);
    await chmod(at("closed"), 0o000);
    await chmod(at("fixed"), 0o555);
  });
  afterAll(async () => {
    for (const name of ["closed", "fixed"]) await chmod(at(name), 0o700);
    await workspace.remove();
  });

  it("that forbid reading are denied, and not mistaken for a missing file", async () => {
    for (const name of ["unreadable.txt", "closed/a.txt", "closed/none.txt"])
      expect(await refusal(guard.openFile(name), "eacces", name)).toMatchObject({ kind: "denied" });
  });

  it("that forbid reading do not forbid replacing if nothing is checked", async () => {
    await guard.writeFile("unreadable.txt", Buffer.from("new"));
    await chmod(at("unreadable.txt"), 0o600);
    expect(await readFile(at("unreadable.txt"), "utf8")).toBe("new");
    await chmod(at("unreadable.txt"), 0o200);
  });

  it("that write-protect a file are respected, although its directory would allow replacing it", async () => {
    await refusal(guard.writeFile("protected.txt", Buffer.from("new")), "not_writable");
    expect(await readFile(at("protected.txt"), "utf8")).toBe("old");
  });

  it("of the source directory of a move are reported as such", async () => {
    const error = await refusal(guard.move("fixed/here.txt", "moved.txt"), "eacces");
    expect(error.message).toContain("fixed/here.txt");
    expect(await readdir(workspace.root)).not.toContain("moved.txt");
  });

  it("that prevent removing the source of a cross-device move leave both, with an error", async () => {
    const there = await makeWorkspace(elsewhere);
    const both = createPathGuard(allowlistOf(workspace.root, there.root), verification);
    const moved = join(there.root, "moved.txt");
    await refusal(both.move("fixed/here.txt", moved), "source_remains");
    expect(await readFile(moved, "utf8")).toBe("old");
    expect(await readdir(at("fixed"))).toEqual(["here.txt"]);
    await there.remove();
  });

  it("of a directory forbid new files, directories and moves", async () => {
    for (const work of [
      () => guard.writeFile("fixed/new.txt", Buffer.from("new")),
      () => guard.createDirectory("fixed/sub"),
      () => guard.move("foreign.txt", "fixed/foreign.txt"),
    ])
      await refusal(work(), "eacces");
    expect(await readdir(at("fixed"))).toEqual(["here.txt"]);
    expect((await readdir(workspace.root)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("that make the kernel refuse a hard link do not prevent a move, which still replaces nothing", async () => {
    await writeFile(at("taken"), "taken");
    await refusal(guard.move("private.txt", "taken"), "eexist");
    await guard.move("private.txt", "renamed.txt");
    expect((await stat(at("renamed.txt"))).size).toBe("private.txt".length);
    const [winner = 0, ...others] = await winnersOf(
      privates.map((name) => guard.move(name, "winner")),
    );
    expect(others).toEqual([]);
    expect((await stat(at("winner"))).size).toBe(privates[winner]?.length);
    const remaining = (await readdir(workspace.root)).filter((name) => privates.includes(name));
    expect(remaining).toHaveLength(privates.length - 1);
  });

  it("of another user's file are kept if possible; its set-user-ID bit is removed", async () => {
    await guard.writeFile("foreign.txt", Buffer.from("new"));
    expect((await stat(at("foreign.txt"))).mode & 0o7777).toBe(0o666);
  });
});
