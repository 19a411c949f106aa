import { chmod, link, lstat, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { request, scratch } from "../../../test/scratch.ts";
import { hashOf } from "../read/bytes.ts";

describe("write", () => {
  it("creates, overwrites and appends, and reports the changes", async () => {
    const { files, at, read } = await scratch();
    const created = await files.write(request(at("a.txt"), "one\ntwo\n"));
    expect(created).toMatchObject({
      created: true,
      size: 8,
      encoding: "utf-8",
    });
    expect(created.receipt).toEqual({ changeId: expect.any(String), final: undefined });
    const over = await files.write(request(at("a.txt"), "one\nthree\nfour\n"));
    expect(over).toMatchObject({ created: false, size: 15 });
    const more = await files.write(request(at("a.txt"), "five\n", { mode: "append" }));
    expect(more).toMatchObject({
      hash: hashOf(Buffer.from("one\nthree\nfour\nfive\n")),
    });
    expect(await read("a.txt")).toBe("one\nthree\nfour\nfive\n");
    const same = await files.write(request(at("a.txt"), "one\nthree\nfour\nfive\n"));
    expect(same).toMatchObject({ receipt: undefined });
  });

  it("creates parents only on request, and removes them after a failure", async () => {
    const { files, at, list, read } = await scratch();
    await expect(files.write(request(at("x/y/a.txt"), "a"))).rejects.toMatchObject({
      kind: "not_found",
    });
    await files.write(request(at("x/y/a.txt"), "a", { create_parents: true }));
    expect(await read("x/y/a.txt")).toBe("a");
    const long = "n".repeat(300);
    await expect(
      files.write(request(at("z", long), "a", { create_parents: true })),
    ).rejects.toMatchObject({
      kind: "invalid",
    });
    expect(await list()).toEqual(["x"]);
  });

  it("refuses if the content is not the expected one", async () => {
    const { files, put, read, at } = await scratch();
    const path = await put("a.txt", "old");
    const part = await files.readText(path, { maxChars: 1000 });
    await put("a.txt", "new");
    await expect(
      files.write(request(path, "mine", { expected_hash: part.hash })),
    ).rejects.toMatchObject({
      kind: "conflict",
      hint: expect.stringContaining("read_text_file"),
    });
    expect(await read("a.txt")).toBe("new");
    const now = await files.readText(path, { maxChars: 1000 });
    await files.write(request(path, "mine", { expected_hash: now.hash }));
    expect(await read("a.txt")).toBe("mine");
    await expect(
      files.write(request(at("none"), "x", { expected_hash: now.hash })),
    ).rejects.toThrow("no longer exists");
  });

  it("appends with the file's encoding and line endings", async () => {
    const { files, put, bytes } = await scratch();
    const wide = await put("wide", Buffer.from("\ufeffa\r\n", "utf16le"));
    await files.write(request(wide, "é\n", { mode: "append" }));
    expect((await bytes("wide")).equals(Buffer.from("\ufeffa\r\né\r\n", "utf16le"))).toBe(true);
    const latin = await put("latin", Buffer.from("caf\xe9\n", "latin1"));
    await files.write(request(latin, "naïve €\n", { mode: "append" }));
    expect((await bytes("latin")).equals(Buffer.from("caf\xe9\nna\xefve \x80\n", "latin1"))).toBe(
      true,
    );
    await expect(files.write(request(latin, "日本\n", { mode: "append" }))).rejects.toThrow(
      "U+65E5",
    );
    const binary = await put("binary", Buffer.from([0, 1, 2, 3]));
    await expect(files.write(request(binary, "x", { mode: "append" }))).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("keeps the mode, and writes through symlinks only if they lead inside", async () => {
    const { files, put, at, outside, read } = await scratch();
    const path = await put("a.sh", "old");
    await chmod(path, 0o750);
    await files.write(request(path, "new"));
    expect((await stat(path)).mode & 0o777).toBe(0o750);
    await symlink("a.sh", at("link"));
    await files.write(request(at("link"), "through"));
    expect((await lstat(at("link"))).isSymbolicLink()).toBe(true);
    expect(await read("a.sh")).toBe("through");
    await symlink(outside, at("out"));
    await expect(files.write(request(at("out/x"), "x"))).rejects.toMatchObject({ kind: "denied" });
    await symlink(join(outside, "x"), at("dangling"));
    await expect(files.write(request(at("dangling"), "x"))).rejects.toMatchObject({
      kind: "denied",
    });
    expect(await readdir(outside)).toEqual([]);
  });

  it("does not change other hard links of a file, which may be outside", async () => {
    const { files, put, at, read } = await scratch();
    const path = await put("a", "the old content");
    await link(path, at("b"));
    await files.write(request(path, "new"));
    expect([await read("a"), await read("b")]).toEqual(["new", "the old content"]);
  });
});
