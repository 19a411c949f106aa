import { execFile } from "node:child_process";
import { lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";

describe("deleting", () => {
  it("moves a file into the journal without asking", async () => {
    const { files, at, put, list } = await scratch();
    const plan = await files.planDelete(await put("a.txt", "abc"), { recursive: false });
    expect(plan).toMatchObject({
      path: at("a.txt"),
      type: "file",
      bytes: 3,
      final: undefined,
      question: undefined,
    });
    const deleted = await files.delete(plan);
    expect(deleted).toMatchObject({
      receipt: { changeId: expect.any(String), final: undefined },
      leftover: undefined,
    });
    expect(await list()).toEqual([]);
  });

  it("states the exact loss before deleting a directory", async () => {
    const { files, another, at, put, list } = await scratch({ trash: false });
    await put("dir/a", "abc");
    await put("dir/sub/b", "x".repeat(2000));
    await symlink("a", at("dir/link"));
    await expect(files.planDelete(at("dir"), { recursive: false })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("4 entries"),
    });
    const plan = await files.planDelete(at("dir"), { recursive: true });
    expect(plan.question).toBeUndefined();
    const hard = await another({ journal: false }).planDelete(at("dir"), { recursive: true });
    expect(hard.question).toContain(
      "It will be permanently lost: the journal is off (--no-journal).",
    );
    expect(await list()).toEqual(["dir"]);
    await files.delete(plan);
    expect(await list()).toEqual([]);
  });

  it("without a journal, deletes permanently after asking, and does not follow symlinks", async () => {
    const { files, at, put, list, outside } = await scratch({ journal: false, trash: false });
    await writeFile(join(outside, "kept"), "kept");
    await put("dir/sub/a", "abc");
    await symlink(outside, at("dir/out"));
    await symlink(join(outside, "kept"), at("link"));
    const file = await files.planDelete(await put("f", "1"), { recursive: false });
    expect(file.question).toBe(
      `Delete "${at("f")}" (1 B)? It will be permanently lost: the journal is off (--no-journal).`,
    );
    for (const plan of [
      file,
      await files.planDelete(at("dir"), { recursive: true }),
      await files.planDelete(at("link"), { recursive: false }),
    ]) {
      expect((await files.delete(plan)).leftover).toBeUndefined();
    }
    expect(await list()).toEqual([]);
    expect(await readFile(join(outside, "kept"), "utf8")).toBe("kept");
  });

  it("refuses if there is more to delete than the user confirmed", async () => {
    const { files, at, put, list } = await scratch();
    await put("dir/a", "a");
    const plan = await files.planDelete(at("dir"), { recursive: true });
    await put("dir/b", "b");
    await expect(files.delete(plan)).rejects.toMatchObject({ kind: "conflict" });
    expect(await list("dir")).toEqual(["a", "b"]);
  });

  it("deletes an empty directory without asking", async () => {
    const { files, at, list } = await scratch();
    await mkdir(at("empty"));
    const plan = await files.planDelete(at("empty"), { recursive: false });
    expect(plan.question).toBeUndefined();
    await files.delete(plan);
    expect(await list()).toEqual([]);
  });

  it("refuses roots, paths outside, missing paths and special files", async () => {
    const { files, at, root, outside } = await scratch();
    const plan = (path: string) => files.planDelete(path, { recursive: true });
    await expect(plan(root)).rejects.toMatchObject({ kind: "denied" });
    await expect(plan(outside)).rejects.toMatchObject({ kind: "denied" });
    await expect(plan(at("none"))).rejects.toMatchObject({ kind: "not_found" });
    await promisify(execFile)("mkfifo", [at("pipe")]);
    await expect(plan(at("pipe"))).rejects.toMatchObject({ kind: "denied" });
    const fixed = await scratch({ writable: false });
    await fixed.put("a", "a");
    await expect(fixed.files.planDelete(fixed.at("a"), { recursive: false })).rejects.toMatchObject(
      {
        kind: "denied",
      },
    );
  });

  it("does not follow a directory that is swapped for a symlink during the operation", async () => {
    const { files, at, put, outside } = await scratch({ journal: false, trash: false });

    for (let round = 0; round < 50; round++) {
      await writeFile(join(outside, "kept"), "kept");
      await put(`dir${round}/sub/kept`, "a");
      const plan = await files.planDelete(at(`dir${round}`), { recursive: true });
      const deleting = files.delete(plan);
      const swapping = rename(at(`dir${round}/sub`), at(`aside${round}`)).then(() =>
        symlink(outside, at(`dir${round}/sub`)),
      );
      await Promise.allSettled([deleting, swapping]);
      expect(await readdir(outside)).toEqual(["kept"]);
    }
    expect((await lstat(outside)).isDirectory()).toBe(true);
  });
});
