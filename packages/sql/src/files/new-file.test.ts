import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createPathGuard, DirectoryAllowlist, type PathGuard } from "@refmcp/boundary";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeNewFile } from "./new-file.ts";

const run = promisify(execFile);
let folder: string;
let guard: PathGuard;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-new-file-"));
  guard = createPathGuard(
    new DirectoryAllowlist({ configured: [{ path: folder, source: "argument" }], mode: "off" }),
  );
});
afterEach(() => rm(folder, { recursive: true }));

const piece = Buffer.alloc(100_000, "x");

it("writes all pieces to a private file", async () => {
  const written = await writeNewFile(guard, "new.txt", async (write) => {
    for (let count = 0; count < 30; count++) await write(piece);
    return "done";
  });
  expect(written).toMatchObject({ bytes: 3_000_000, value: "done" });
  expect(await readFile(written.path)).toHaveLength(3_000_000);
  if (process.platform !== "win32") expect((await stat(written.path)).mode & 0o777).toBe(0o600);
});

it("does not start if the name is taken", async () => {
  await writeFile(join(folder, "taken.txt"), "old");
  let started = false;
  const writing = writeNewFile(guard, "taken.txt", async () => {
    started = true;
  });
  await expect(writing).rejects.toMatchObject({ kind: "conflict" });
  expect(started).toBe(false);
  expect(await readFile(join(folder, "taken.txt"), "utf8")).toBe("old");
});

it.runIf(process.platform === "linux")("leaves nothing on a full disk", async (ctx) => {
  await run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]).catch(() =>
    ctx.skip("needs root"),
  );
  const writing = writeNewFile(guard, "new.txt", async (write) => {
    for (let count = 0; count < 30; count++) await write(piece);
  });
  await expect(writing).rejects.toMatchObject({ kind: "unavailable", code: "enospc" });
  const left = await readdir(folder);
  await run("umount", ["--lazy", folder]);
  expect(left).toEqual([]);
});

it("reports the error of the work unchanged, and leaves nothing", async () => {
  const failure = Object.assign(new Error("no such table"), { code: "42P01" });
  const writing = writeNewFile(guard, "new.txt", async (write) => {
    await write(piece);
    throw failure;
  });
  await expect(writing).rejects.toBe(failure);
  expect(await readdir(folder)).toEqual([]);
});
