import { chmod, chown, lstat, mkdir, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { openStateDirectory } from "@refmcp/boundary";
import { describe, expect, it } from "vitest";
import { allowlist, scratch } from "../../../test/scratch.ts";

describe("the state directory", () => {
  it("is never inside a root, and never contains one", async () => {
    const { root, outside, at } = await scratch();
    const first = await openStateDirectory([at("state"), join(outside, "state")], allowlist(root), {
      name: "journal",
    });
    expect(first).toMatchObject({ directory: join(outside, "state", "journal") });
    expect(await readdir(root)).toEqual([]);
    await symlink(root, join(outside, "alias"));
    expect(
      await openStateDirectory([join(outside, "alias", "x")], allowlist(root), { name: "journal" }),
    ).toMatchObject({
      reason: expect.stringContaining("is in an allowed directory"),
    });
    expect(
      await openStateDirectory([join(root, "..")], allowlist(root), { name: "journal" }),
    ).toHaveProperty("reason");
  });

  it.skipIf(process.platform === "win32")(
    "is closed to others, and a directory chosen by the user stays unchanged",
    async () => {
      const { root, outside } = await scratch();
      await chmod(outside, 0o755);
      await mkdir(join(outside, "journal"), { mode: 0o755 });
      expect(
        await openStateDirectory([outside], allowlist(root), { name: "journal" }),
      ).toMatchObject({
        directory: join(outside, "journal"),
      });
      expect((await lstat(outside)).mode & 0o777).toBe(0o755);
      expect((await lstat(join(outside, "journal"))).mode & 0o777).toBe(0o700);
    },
  );

  it("is not shared with another user", async (context) => {
    if (process.getuid?.() !== 0) context.skip("needs root");
    const { root, outside } = await scratch();
    await chown(outside, 65_534, 65_534);
    expect(await openStateDirectory([outside], allowlist(root), { name: "journal" })).toEqual({
      reason: `${outside} cannot be used (it belongs to another user)`,
    });
    await chown(outside, 0, 0);
    await symlink("/tmp", join(outside, "journal"));
    expect(await openStateDirectory([outside], allowlist(root), { name: "journal" })).toEqual({
      reason: `${outside} cannot be used (not a directory)`,
    });
  });

  it("is not created before the first change", async () => {
    const { files, put, journalDirectory } = await scratch();
    await files.readText(await put("a", "x"), { maxChars: 10 });
    expect(await files.changes()).toEqual([]);
    await expect(files.undo("000000000-000000")).rejects.toMatchObject({ kind: "not_found" });
    await expect(stat(journalDirectory)).rejects.toThrow("ENOENT");
  });
});
