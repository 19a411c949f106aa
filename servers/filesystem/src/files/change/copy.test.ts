import { execFile } from "node:child_process";
import { lstat, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";

describe("copy", () => {
  it("copies a directory with its symlinks, and skips FIFOs, broken symlinks and those that lead outside", async () => {
    const { files, at, put, list, read, outside } = await scratch();
    await put("dir/sub/a", "a");
    await put("dir/b", "bb");
    await put("sibling", "x");
    await writeFile(join(outside, "secret"), "secret");
    await symlink("sub/a", at("dir/inside"));
    await symlink("../sibling", at("dir/up"));
    await symlink(join(outside, "secret"), at("dir/out"));
    await symlink("../../outside/secret", at("dir/out2"));
    await symlink("nowhere", at("dir/broken"));
    await promisify(execFile)("mkfifo", [at("dir/pipe")]);
    const copied = await files.copy({
      source: at("dir"),
      destination: at("copy"),
      overwrite: false,
    });
    expect(copied).toMatchObject({
      content: { files: 2, directories: 1, links: 2, bytes: 3 },
      skipped: ["broken", "out", "out2", "pipe"],
    });
    expect(await list("copy")).toEqual(["b", "inside", "sub", "up"]);
    expect(await readlink(at("copy/inside"))).toBe("sub/a");
    expect(await read("copy/up")).toBe("x");
  });

  it("refuses a copy into itself, over an existing entry, or to the outside", async () => {
    const { files, at, put, list, outside, root } = await scratch();
    await put("dir/a", "a");
    await put("b", "b");
    const copy = (source: string, destination: string, overwrite = false) =>
      files.copy({ source, destination, overwrite });
    await expect(copy(at("dir"), at("dir/sub"))).rejects.toMatchObject({ kind: "invalid" });
    await expect(copy(root, at("all"))).rejects.toMatchObject({ kind: "denied" });
    await symlink("dir", at("alias"));
    await expect(copy(at("dir"), at("alias/sub"))).rejects.toMatchObject({ kind: "invalid" });
    await expect(copy(at("dir/a"), at("b"))).rejects.toMatchObject({ kind: "conflict" });
    await expect(copy(at("b"), at("dir"), true)).rejects.toMatchObject({ kind: "conflict" });
    await expect(copy(at("dir"), at("b"), true)).rejects.toMatchObject({ kind: "conflict" });
    await expect(copy(at("b"), at("alias"), true)).rejects.toThrow("is a symlink");
    await expect(copy(at("b"), join(outside, "b"))).rejects.toMatchObject({ kind: "denied" });
    await expect(copy(join(outside, "x"), at("x"))).rejects.toMatchObject({ kind: "denied" });
    await expect(copy(at("none"), at("x"))).rejects.toMatchObject({ kind: "not_found" });
    expect(await list()).toEqual(["alias", "b", "dir"]);
    expect(await list("dir")).toEqual(["a"]);
  });

  it("leaves nothing behind when a copy is cancelled", async () => {
    const { files, at, put, list } = await scratch();
    for (let index = 0; index < 300; index++) await put(`dir/${index}`, "x".repeat(1000));
    await writeFile(at("large"), Buffer.alloc(100_000_000, "x"));
    for (const [source, progress] of [
      ["dir", 100],
      ["large", 0],
    ] as const) {
      const cancel = new AbortController();
      if (progress === 0) setImmediate(() => cancel.abort());
      const copying = files.copy({
        source: at(source),
        destination: at("copy"),
        overwrite: false,
        progress: (done, total) => {
          expect(total).toBe(300);
          if (done === progress) cancel.abort();
        },
        signal: cancel.signal,
      });
      await expect(copying).rejects.toThrow("abort");
    }
    expect(await list()).toEqual(["dir", "large"]);
    expect(await files.changes()).toEqual([]);
  });

  it("does not follow a directory that is swapped for a symlink during the operation", async () => {
    const { files, at, put, outside } = await scratch();
    await writeFile(join(outside, "secret"), "secret");
    for (let round = 0; round < 50; round++) {
      await put(`from${round}/sub/a`, "a");
      const copying = files.copy({
        source: at(`from${round}`),
        destination: at(`to${round}`),
        overwrite: false,
      });

      const swapping = rename(at(`from${round}/sub`), at(`aside${round}`)).then(() =>
        symlink(outside, at(`from${round}/sub`)).catch(() => {}),
      );
      await Promise.allSettled([copying, swapping]);
      const entry = await lstat(at(`to${round}/sub/secret`)).catch(() => undefined);
      const link = await lstat(at(`to${round}/sub`)).catch(() => undefined);
      expect(entry === undefined && link?.isSymbolicLink() !== true).toBe(true);
      await rm(at(`aside${round}`), { recursive: true });
    }
  });
});
