import { execFile } from "node:child_process";
import { chmod, link, mkdir, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";
import { hashOf } from "./bytes.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe("info", () => {
  it("describes text files, binary files and directories", async () => {
    const { files, put, root } = await scratch();
    const path = await put("sub/a.txt", "one\r\ntwo\r\n");
    await chmod(path, 0o640);
    await utimes(path, 1000, 2000);
    const info = (await files.info(path)).replace(/\n(?:created|accessed): .*/g, "");
    expect(info.split("\n")).toEqual([
      `path: ${path}`,
      "type: file",
      "size: 10",
      "mime: text/plain",
      "encoding: utf-8",
      "line_endings: crlf",
      "lines: 2",
      `hash: ${hashOf(Buffer.from("one\r\ntwo\r\n"))}`,
      "permissions: rw-r-----",
      "writable: true",
      "modified: 1970-01-01T00:33:20.000Z",
    ]);
    const picture = await files.info(await put("a.png", PNG));
    expect(picture).toContain("mime: image/png\nhash: ");
    expect(await files.info(root)).toContain(
      `files: 2\ndirectories: 1\ntotal_size: ${10 + PNG.length}\nlargest_folders: sub/ 10 B\n`,
    );
  });

  it("reports hard links and where links lead", async () => {
    const { files, at, put, outside } = await scratch();
    await link(await put("a", "abc"), at("b"));
    expect(await files.info(at("a"))).toContain("\nhard_links: 2\n");
    await symlink("a", at("in"));
    expect(await files.info(at("in"))).toContain("type: file\nlink_target: a\nsize: 3\n");
    await writeFile(join(outside, "secret"), "x");
    await symlink("../outside/secret", at("out"));
    expect(await files.info(at("out"))).toContain(
      "type: link\nlink_target: ../outside/secret (outside, or missing)\npermissions",
    );
    await symlink("nowhere", at("broken"));
    expect(await files.info(at("broken"))).toContain("type: link\n");
    await mkdir(at("dir"));
    await symlink("dir", at("to-dir"));
    expect(await files.info(at("to-dir"))).toContain("type: directory\nlink_target: dir\nfiles: 0");
  });

  it("does not open special files, and refuses paths outside or missing", async () => {
    const { files, at, outside } = await scratch();
    await promisify(execFile)("mkfifo", [at("pipe")]);
    expect(await files.info(at("pipe"))).toContain("type: fifo\npermissions");
    await expect(files.info(join(outside, "x"))).rejects.toMatchObject({ kind: "denied" });
    await expect(files.info(outside)).rejects.toMatchObject({ kind: "denied" });
    await expect(files.info(at("none"))).rejects.toMatchObject({ kind: "not_found" });
  });
});
