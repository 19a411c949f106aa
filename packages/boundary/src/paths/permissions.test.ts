import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  allowlistOf,
  elsewhere,
  guardOf,
  makeWorkspace,
  refusal,
  verifications,
  type Workspace,
} from "../../test/fixtures/boundary.ts";

/** Permission bits do not apply to root, so the process of this file permanently gives up root. */
const nobody = 65534;

/** Names of different lengths; each file contains its own name. */
const privates = Array.from({ length: 10 }, (_, index) => "p".repeat(index + 1));

describe.each(verifications)("permissions, verified by %s", (verification) => {
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = await makeWorkspace();
    const { root, base, outside, secret } = workspace;
    await writeFile(join(root, "foreign.txt"), "old");
    await chmod(join(root, "foreign.txt"), 0o4666);
    // fs.protected_hardlinks: only files that a user may read and write can be linked.
    for (const name of ["private.txt", ...privates]) {
      await writeFile(join(root, name), name, { mode: 0o600 });
    }
    const own = [base, root, outside, secret];
    for (const name of ["unreadable.txt", "protected.txt"])
      await writeFile(join(root, name), "old");
    for (const name of ["closed", "fixed"]) await mkdir(join(root, name));
    await writeFile(join(root, "closed", "a.txt"), "closed");
    await writeFile(join(root, "fixed", "here.txt"), "here");
    if (process.getuid?.() === 0) {
      for (const name of ["unreadable.txt", "protected.txt", "closed", "fixed", "fixed/here.txt"])
        own.push(join(root, name));
      for (const path of own) await chown(path, nobody, nobody);
      process.setgid?.(nobody);
      process.setuid?.(nobody);
    }
    await chmod(join(root, "unreadable.txt"), 0o200);
    await chmod(join(root, "protected.txt"), 0o444);
    await chmod(join(root, "closed"), 0o000);
    await chmod(join(root, "fixed"), 0o555);
  });
  afterAll(async () => {
    for (const name of ["closed", "fixed"]) await chmod(join(workspace.root, name), 0o700);
    await workspace.remove();
  });

  it("that forbid reading are denied, and not mistaken for a missing file", async () => {
    const guard = workspace.guard(verification);
    expect(await refusal(guard.openFile("unreadable.txt"))).toMatchObject({
      kind: "denied",
      code: "eacces",
    });
    expect(await refusal(guard.openFile("closed/a.txt"))).toMatchObject({
      kind: "denied",
      code: "eacces",
    });
    expect(await refusal(guard.openFile("closed/none.txt"))).toMatchObject({
      kind: "denied",
      code: "eacces",
    });
  });

  it("that forbid reading do not forbid replacing if nothing is checked", async () => {
    const guard = workspace.guard(verification);
    await guard.writeFile("unreadable.txt", Buffer.from("new"));
    await chmod(join(workspace.root, "unreadable.txt"), 0o600);
    expect(await readFile(join(workspace.root, "unreadable.txt"), "utf8")).toBe("new");
    await chmod(join(workspace.root, "unreadable.txt"), 0o200);
  });

  it("that write-protect a file are respected, although its directory would allow replacing it", async () => {
    const guard = workspace.guard(verification);
    expect(await refusal(guard.writeFile("protected.txt", Buffer.from("new")))).toMatchObject({
      kind: "denied",
      code: "not_writable",
    });
    expect(await readFile(join(workspace.root, "protected.txt"), "utf8")).toBe("old");
  });

  it("of the source directory of a move are reported as such", async () => {
    const error = await refusal(workspace.guard(verification).move("fixed/here.txt", "moved.txt"));
    expect(error).toMatchObject({ kind: "denied", code: "eacces" });
    expect(error.message).toContain("fixed/here.txt");
    expect(await readdir(workspace.root)).not.toContain("moved.txt");
  });

  it("that prevent removing the source of a cross-device move leave both, with an error", async () => {
    const there = await makeWorkspace(elsewhere);
    const guard = guardOf(
      allowlistOf(
        { path: workspace.root, source: "argument" },
        { path: there.root, source: "argument" },
      ),
      verification,
    );
    const error = await refusal(guard.move("fixed/here.txt", join(there.root, "moved.txt")));
    expect(error).toMatchObject({ kind: "conflict", code: "source_remains" });
    expect(await readFile(join(there.root, "moved.txt"), "utf8")).toBe("here");
    expect(await readdir(join(workspace.root, "fixed"))).toEqual(["here.txt"]);
    await there.remove();
  });

  it("of a directory forbid new files, directories and moves", async () => {
    const guard = workspace.guard(verification);
    const works = [
      () => guard.writeFile("fixed/new.txt", Buffer.from("new")),
      () => guard.createDirectory("fixed/sub"),
      () => guard.move("foreign.txt", "fixed/foreign.txt"),
    ];
    for (const work of works)
      expect(await refusal(work())).toMatchObject({ kind: "denied", code: "eacces" });
    expect(await readdir(join(workspace.root, "fixed"))).toEqual(["here.txt"]);
    expect((await readdir(workspace.root)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("that make the kernel refuse a hard link do not prevent a move, which still replaces nothing", async () => {
    const { root } = workspace;
    const guard = workspace.guard(verification);
    await writeFile(join(root, "taken"), "taken");
    expect(await refusal(guard.move("private.txt", "taken"))).toMatchObject({ kind: "conflict" });
    await guard.move("private.txt", "renamed.txt");
    expect((await stat(join(root, "renamed.txt"))).size).toBe("private.txt".length);
    await guard.move("renamed.txt", "private.txt");
  });

  it("that make the kernel refuse a hard link do not let two moves get the same name", async () => {
    const { root } = workspace;
    const guard = workspace.guard(verification);
    const results = await Promise.allSettled(privates.map((name) => guard.move(name, "winner")));
    const winners = privates.filter((_, index) => results[index]?.status === "fulfilled");
    expect(winners).toHaveLength(1);
    expect((await stat(join(root, "winner"))).size).toBe(winners[0]?.length);
    expect((await readdir(root)).filter((name) => privates.includes(name))).toHaveLength(
      privates.length - 1,
    );
    await guard.move("winner", winners[0] ?? "");
  });

  it("of another user's file are kept if possible; its set-user-ID bit is removed", async () => {
    const guard = workspace.guard(verification);
    await guard.writeFile("foreign.txt", Buffer.from("new"));
    expect((await stat(join(workspace.root, "foreign.txt"))).mode & 0o7777).toBe(0o666);
  });
});
