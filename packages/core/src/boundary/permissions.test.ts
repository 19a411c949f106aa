import { chmod, chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ground, makeGround, refusal, verifications } from "../../test/fixtures/boundary.ts";

/** Root passes every permission bit; this file's process gives the role up, for good. */
const nobody = 65534;

describe.each(verifications)("permissions, verified by %s", (verification) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await makeGround();
    const { root, base, outside, secret } = ground;
    await writeFile(join(root, "foreign.txt"), "old");
    await chmod(join(root, "foreign.txt"), 0o4666);
    const own = [base, root, outside, secret];
    for (const name of ["unreadable.txt", "protected.txt"]) await writeFile(join(root, name), "old");
    for (const name of ["closed", "fixed"]) await mkdir(join(root, name));
    await writeFile(join(root, "closed", "a.txt"), "closed");
    if (process.getuid?.() === 0) {
      for (const name of ["unreadable.txt", "protected.txt", "closed", "fixed"]) own.push(join(root, name));
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
    await chmod(join(ground.root, "closed"), 0o700);
    await ground.remove();
  });

  it("that forbid reading are denied, and not mistaken for a missing file", async () => {
    const guard = ground.guard(verification);
    expect(await refusal(guard.openFile("unreadable.txt"))).toMatchObject({ kind: "denied", code: "eacces" });
    expect(await refusal(guard.openFile("closed/a.txt"))).toMatchObject({ kind: "denied", code: "eacces" });
    expect(await refusal(guard.openFile("closed/none.txt"))).toMatchObject({
      kind: "denied",
      code: "eacces",
    });
  });

  it("that forbid reading do not forbid replacing, where nothing is checked", async () => {
    const guard = ground.guard(verification);
    await guard.writeFile("unreadable.txt", Buffer.from("new"));
    await chmod(join(ground.root, "unreadable.txt"), 0o600);
    expect(await readFile(join(ground.root, "unreadable.txt"), "utf8")).toBe("new");
    await chmod(join(ground.root, "unreadable.txt"), 0o200);
  });

  it("that protect a file from writing are kept, though its directory would allow the replacement", async () => {
    const guard = ground.guard(verification);
    expect(await refusal(guard.writeFile("protected.txt", Buffer.from("new")))).toMatchObject({
      kind: "denied",
      code: "not_writable",
    });
    expect(await readFile(join(ground.root, "protected.txt"), "utf8")).toBe("old");
  });

  it("of a directory forbid new files, directories and moves", async () => {
    const guard = ground.guard(verification);
    const works = [
      () => guard.writeFile("fixed/new.txt", Buffer.from("new")),
      () => guard.createDirectory("fixed/sub"),
      () => guard.move("foreign.txt", "fixed/foreign.txt"),
    ];
    for (const work of works) expect(await refusal(work())).toMatchObject({ kind: "denied", code: "eacces" });
    expect(await readdir(join(ground.root, "fixed"))).toEqual([]);
    expect((await readdir(ground.root)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("of somebody else's file stay, as far as they can; its set-user-ID bit goes", async () => {
    const guard = ground.guard(verification);
    await guard.writeFile("foreign.txt", Buffer.from("new"));
    expect((await stat(join(ground.root, "foreign.txt"))).mode & 0o7777).toBe(0o666);
  });
});
