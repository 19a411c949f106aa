import { execFile } from "node:child_process";
import { chmod, link, mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";
import { hashOf } from "./bytes.ts";
import { permissionsOf } from "./info.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe("info", () => {
  it("describes text files, binary files and directories", async () => {
    const { files, put, root } = await scratch();
    const path = await put("a.txt", "one\r\ntwo\r\n");
    await chmod(path, 0o640);
    await utimes(path, 1000, 2000);
    const info = await files.info(path);
    expect(info).toMatchObject({
      path,
      type: "file",
      link: undefined,
      mime: "text/plain",
      form: { encoding: "utf-8", eol: "crlf" },
      lines: 2,
      hash: hashOf(Buffer.from("one\r\ntwo\r\n")),
      writable: true,
    });
    expect([permissionsOf(info.stat), info.stat.mtime.toISOString()]).toEqual([
      "rw-r-----",
      "1970-01-01T00:33:20.000Z",
    ]);
    expect(await files.info(await put("a.png", PNG))).toMatchObject({
      mime: "image/png",
      form: undefined,
      lines: undefined,
    });
    expect(await files.info(root)).toMatchObject({
      type: "directory",
      path: root,
      below: { files: 2, bytes: 10 + PNG.length, isCut: false },
    });
    await mkdir(join(root, "dir"));
    expect(await files.info(join(root, "dir"))).toMatchObject({
      type: "directory",
      hash: undefined,
    });
  });

  it("reports hard links and where links lead", async () => {
    const { files, at, put, outside } = await scratch();
    await link(await put("a", "abc"), at("b"));
    expect((await files.info(at("a"))).stat.nlink).toBe(2);
    await symlink("a", at("in"));
    expect(await files.info(at("in"))).toMatchObject({
      type: "file",
      link: { target: "a", inside: true },
      lines: 1,
    });
    await writeFile(join(outside, "secret"), "x");
    await symlink("../outside/secret", at("out"));
    expect(await files.info(at("out"))).toMatchObject({
      type: "link",
      link: { target: "../outside/secret", inside: false },
      hash: undefined,
    });
    await symlink("nowhere", at("broken"));
    expect(await files.info(at("broken"))).toMatchObject({ type: "link", link: { inside: false } });
    await mkdir(at("dir"));
    await symlink("dir", at("to-dir"));
    expect(await files.info(at("to-dir"))).toMatchObject({
      type: "directory",
      link: { target: "dir", inside: true },
    });
  });

  it("does not open special files, and refuses paths outside or missing", async () => {
    const { files, at, outside } = await scratch();
    await promisify(execFile)("mkfifo", [at("pipe")]);
    expect(await files.info(at("pipe"))).toMatchObject({ type: "fifo", mime: undefined });
    await expect(files.info(join(outside, "x"))).rejects.toMatchObject({ kind: "denied" });
    await expect(files.info(outside)).rejects.toMatchObject({ kind: "denied" });
    await expect(files.info(at("none"))).rejects.toMatchObject({ kind: "not_found" });
  });
});

describe("readMedia", () => {
  it("returns images with the type of their content, whatever their name", async () => {
    const { files, put } = await scratch();
    const media = await files.readMedia(await put("picture.txt", PNG));
    expect(media).toMatchObject({ kind: "image", mime: "image/png" });
    expect(media.kind === "image" && Buffer.from(media.bytes).equals(PNG)).toBe(true);
    const wav = Buffer.concat([Buffer.from("RIFF\x24\x00\x00\x00WAVEfmt "), Buffer.alloc(28)]);
    expect(await files.readMedia(await put("sound", wav))).toMatchObject({
      kind: "audio",
      mime: "audio/wav",
    });
  });

  it("returns links to files that are too large or neither image nor audio", async () => {
    const { files, put } = await scratch();
    const large = await files.readMedia(
      await put("large image.png", Buffer.concat([PNG, Buffer.alloc(4_000_000)])),
    );
    expect(large).toMatchObject({
      kind: "link",
      mime: "image/png",
      name: "large image.png",
      size: 4_000_000 + PNG.length,
    });
    expect(large.kind === "link" && large.uri).toMatch(/^file:\/\/\/.*\/large%20image\.png$/);
    expect(await files.readMedia(await put("x.bin", Buffer.alloc(100)))).toMatchObject({
      kind: "link",
      mime: "application/octet-stream",
    });
  });

  it("refuses text and refers to read_text_file", async () => {
    const { files, put } = await scratch();
    await expect(files.readMedia(await put("fake.png", "just text"))).rejects.toMatchObject({
      kind: "invalid",
      hint: expect.stringContaining("read_text_file"),
    });
  });
});
