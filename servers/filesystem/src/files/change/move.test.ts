import { mkdir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";

describe("move", () => {
  it("renames files and directories and moves symlinks themselves", async () => {
    const { files, at, put, read, list } = await scratch();
    await put("a", "a");
    await put("dir/x", "x");
    await symlink("dir/x", at("link"));
    expect(
      await files.move({ source: at("a"), destination: at("b"), overwrite: false }),
    ).toMatchObject({ receipt: { final: undefined } });
    await files.move({ source: at("dir"), destination: at("dir2"), overwrite: false });
    await files.move({ source: at("link"), destination: at("link2"), overwrite: false });
    expect(await readlink(at("link2"))).toBe("dir/x");
    expect(await read("dir2/x")).toBe("x");
    expect(await list()).toEqual(["b", "dir2", "link2"]);
  });

  it("replaces nothing without overwrite, and never a directory", async () => {
    const { files, at, put, read } = await scratch();
    await put("a", "a");
    await put("b", "b");
    await mkdir(at("dir"));
    await expect(
      files.move({ source: at("a"), destination: at("b"), overwrite: false }),
    ).rejects.toMatchObject({
      kind: "conflict",
      hint: expect.stringContaining("overwrite"),
    });
    await expect(
      files.move({ source: at("a"), destination: at("dir"), overwrite: true }),
    ).rejects.toMatchObject({ kind: "conflict" });
    expect(await read("b")).toBe("b");
    await files.move({ source: at("a"), destination: at("b"), overwrite: true });
    expect(await read("b")).toBe("a");
  });

  it("refuses nonsensical moves and paths outside", async () => {
    const { files, at, put, outside, root } = await scratch();
    await put("dir/a", "a");
    const move = (source: string, destination: string) =>
      files.move({ source, destination, overwrite: false });
    await expect(move(at("none"), at("x"))).rejects.toMatchObject({ kind: "not_found" });
    await expect(move(at("dir"), at("dir/sub"))).rejects.toMatchObject({ kind: "conflict" });
    await expect(move(at("dir"), at("dir"))).rejects.toMatchObject({ kind: "invalid" });
    await expect(move(at("dir/a"), join(outside, "a"))).rejects.toMatchObject({ kind: "denied" });
    await expect(move(root, at("x"))).rejects.toMatchObject({ kind: "denied" });
    await symlink(outside, at("out"));
    await expect(move(at("dir/a"), at("out/a"))).rejects.toMatchObject({ kind: "denied" });
  });
});
