import { execFile } from "node:child_process";
import { link, readdir, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { type Scratch, scratch } from "../../../test/scratch.ts";

const run = promisify(execFile);

/**
 * No file of this process can grow beyond this many bytes: write(2) fails in the middle of a file (EFBIG), as it does
 * with ENOSPC on a full disk. Any user may set it (setrlimit(2), RLIMIT_FSIZE), whereas a small tmpfs would
 * need root.
 */
async function limitFileSize(bytes: number | "unlimited"): Promise<void> {
  await run("prlimit", [`--pid=${process.pid}`, `--fsize=${bytes}:`]);
}

async function leftovers({ root, journalDirectory }: Scratch): Promise<string[]> {
  const names = [...(await readdir(root)), ...(await readdir(journalDirectory).catch(() => []))];
  return names.filter(
    (name) => name.includes("tmp") || name.endsWith(".image") || /\.\d+\.json$/.test(name),
  );
}

describe.runIf(process.platform === "linux")("a disk that fails during a write", () => {
  afterEach(() => limitFileSize("unlimited"));

  it("keeps the old content if a write, edit or append fails", async () => {
    const place = await scratch();
    const { files, put, at, read } = place;
    const path = await put("a.txt", "old\n");
    const content = "x".repeat(150_000);
    await limitFileSize(100_000);
    const write = { path, content, create_parents: false } as const;
    await expect(files.write({ ...write, mode: "overwrite" })).rejects.toMatchObject({
      kind: "too_large",
    });
    await expect(files.write({ ...write, mode: "append" })).rejects.toMatchObject({
      kind: "too_large",
    });
    await expect(
      files.write({ ...write, path: at("x/new"), mode: "create", create_parents: true }),
    ).rejects.toMatchObject({ kind: "too_large" });
    const edits = [{ oldText: "old", newText: content }];
    await expect(
      files.edit({ path, edits, replace_all: false, dryRun: false, maxChars: 1000 }),
    ).rejects.toMatchObject({ kind: "too_large" });
    expect(await read("a.txt")).toBe("old\n");
    await expect(stat(at("x"))).rejects.toThrow("ENOENT");
    expect(await leftovers(place)).toEqual([]);
  });

  it("makes no change that cannot be recorded", async () => {
    const place = await scratch();
    const { files, put, read } = place;
    const old = "y".repeat(150_000);
    const path = await put("a.txt", old);
    // A file with another name is copied rather than kept under a second one.
    await link(path, place.at("b.txt"));
    await limitFileSize(100_000);
    await expect(
      files.write({ path, content: "new", mode: "overwrite", create_parents: false }),
    ).rejects.toMatchObject({
      kind: "unavailable",
      hint: expect.stringContaining("--journal-dir"),
    });
    expect(await read("a.txt")).toBe(old);
    expect(await leftovers(place)).toEqual([]);
  });

  it("leaves nothing behind of a failed copy", async () => {
    const place = await scratch();
    const { files, put, at, list } = place;
    await put("dir/large", "z".repeat(300_000));
    await put("dir/small", "z");
    await limitFileSize(100_000);
    for (const source of ["dir", "dir/large"]) {
      await expect(
        files.copy({ source: at(source), destination: at("copy"), overwrite: false }),
      ).rejects.toMatchObject({
        name: "ToolError",
      });
    }
    expect(await list()).toEqual(["dir"]);
    expect(await leftovers(place)).toEqual([]);
  });
});
