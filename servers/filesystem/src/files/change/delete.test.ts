import { execFile } from "node:child_process";
import { lstat, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";
import { planDeletion } from "./plan.ts";

describe("deleting", () => {
  it("keeps a file, and counts what a directory contains", async () => {
    const { files, at, put, list } = await scratch();
    await put("dir/a", "abc");
    await put("dir/sub/b", "x".repeat(2000));
    await symlink("a", at("dir/link"));
    await expect(files.delete(at("dir"), false)).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("4 entries"),
    });
    const { deletions } = await planDeletion(files, at("dir"), { recursive: true });
    expect(deletions).toMatchObject([
      { type: "directory", content: { files: 2, directories: 1, links: 1 }, bytes: 2003 },
    ]);
    expect(await list()).toEqual(["dir"]);
    const { receipt } = await files.delete(at("dir"));
    expect(receipt).toMatchObject({ changeId: expect.any(String), final: undefined });
    expect(await list()).toEqual([]);
  });

  it("deletes what a pattern matches as one change, with one undo", async () => {
    const { files, at, put, list } = await scratch();
    for (const name of ["a.tmp", "b.tmp", "sub/c.tmp", "kept.txt"]) await put(name, name);
    await expect(files.delete("*.bak")).rejects.toMatchObject({ kind: "not_found" });
    const { receipt, outcomes } = await files.delete("**/*.tmp");
    expect(outcomes).toHaveLength(3);
    expect([await list(), await list("sub")]).toEqual([["kept.txt", "sub"], []]);
    const undone = await files.undo(receipt?.changeId ?? "");
    expect(undone.done).toBe("3 steps undone.");
    expect([await list(), await readFile(at("sub/c.tmp"), "utf8")]).toEqual([
      ["a.tmp", "b.tmp", "kept.txt", "sub"],
      "sub/c.tmp",
    ]);
  });

  it("does not follow symlinks", async () => {
    const { files, at, put, list, outside } = await scratch({ journalDays: 0 });
    await writeFile(join(outside, "kept"), "kept");
    await put("dir/sub/a", "abc");
    await symlink(outside, at("dir/out"));
    await symlink(join(outside, "kept"), at("link"));
    for (const path of [await put("f", "1"), at("dir"), at("link")]) {
      const { receipt, outcomes } = await files.delete(path);
      expect(outcomes[0]?.leftover).toBeUndefined();
      expect(receipt).toMatchObject({ changeId: undefined, final: expect.any(String) });
    }
    expect(await list()).toEqual([]);
    expect(await readFile(join(outside, "kept"), "utf8")).toBe("kept");
  });

  it("refuses roots, paths outside, missing paths and special files", async () => {
    const { files, at, root, outside } = await scratch();
    await expect(files.delete(root)).rejects.toMatchObject({ kind: "denied" });
    await expect(files.delete(outside)).rejects.toMatchObject({ kind: "denied" });
    await expect(files.delete(at("none"))).rejects.toMatchObject({ kind: "not_found" });
    await promisify(execFile)("mkfifo", [at("pipe")]);
    await expect(files.delete(at("pipe"))).rejects.toMatchObject({ kind: "denied" });
    const fixed = await scratch({ writable: false });
    await fixed.put("a", "a");
    await expect(fixed.files.delete(fixed.at("a"))).rejects.toMatchObject({ kind: "denied" });
  });

  it("does not follow a directory that is swapped for a symlink during the operation", async () => {
    const { files, at, put, outside } = await scratch({ journalDays: 0 });
    for (let round = 0; round < 50; round++) {
      await writeFile(join(outside, "kept"), "kept");
      await put(`dir${round}/sub/kept`, "a");
      const deleting = files.delete(at(`dir${round}`));
      const swapping = rename(at(`dir${round}/sub`), at(`aside${round}`)).then(() =>
        symlink(outside, at(`dir${round}/sub`)),
      );
      await Promise.allSettled([deleting, swapping]);
      expect(await readdir(outside)).toEqual(["kept"]);
    }
    expect((await lstat(outside)).isDirectory()).toBe(true);
  });
});
