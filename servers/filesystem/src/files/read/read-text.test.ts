import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { type Scratch, scratch } from "../../../test/scratch.ts";
import { factsLine } from "./facts-line.ts";
import type { readText } from "./read-text.ts";

const LINES = Array.from({ length: 1000 }, (_, index) => `line ${index + 1}`);
const TEXT = `${LINES.join("\n")}\n`;

function read(
  files: Scratch["files"],
  path: string,
  options: Partial<Parameters<typeof readText>[2]> = {},
) {
  return files.readText(path, { maxChars: 20_000, ...options });
}

describe("readText", () => {
  it("reads head, tail and a range", async () => {
    const { files, put } = await scratch();
    const path = await put("a.txt", TEXT);
    expect(await read(files, path, { head: 2 })).toMatchObject({
      text: "line 1\nline 2\n",
      next: { offset: 3 },
    });
    expect(await read(files, path, { tail: 2 })).toMatchObject({
      text: "line 999\nline 1000\n",
      startLine: 999,
    });
    const middle = await read(files, path, { offset: 500, limit: 3 });
    expect(middle).toMatchObject({
      text: "line 500\nline 501\nline 502\n",
      startLine: 500,
      totalLines: 1000,
    });
    expect(factsLine(middle)).toMatch(/^\[Lines 500–502 of 1,000\. Continue with offset=503\. /);
    expect((await read(files, path, { offset: 999, lineNumbers: true })).text).toBe(
      "999\tline 999\n1000\tline 1000\n",
    );
    expect((await read(files, path, { tail: 1, lineNumbers: true })).text).toBe(
      "1000\tline 1000\n",
    );
    expect((await read(files, path, { tail: 5000 })).text).toBe(TEXT);
  });

  it("reads the whole file by following next", async () => {
    const { files, put } = await scratch();
    const content = `${TEXT}${"x".repeat(5000)}\n${"😀".repeat(3000)}\nend without a line end`;
    const path = await put("a.txt", content);
    let text = "";
    let range: Partial<Parameters<typeof readText>[2]> | undefined = {};
    for (let calls = 0; range !== undefined && calls < 100; calls++) {
      const part = await read(files, path, { ...range, maxChars: 1001 });
      expect(part.text.length).toBeLessThanOrEqual(1001);
      expect(part.text.isWellFormed()).toBe(true);
      text += part.text;
      range = part.next;
    }
    expect(text).toBe(content);
  });

  it("reports that a part of a long line is missing", async () => {
    const { files, put } = await scratch();
    const path = await put("a.txt", `${"x".repeat(5000)}\nnext\n`);
    const part = await read(files, path, { maxChars: 1000 });
    expect(part).toMatchObject({
      lines: 1,
      next: { offset: 1, column: 1001 },
      isCut: true,
    });
    expect(factsLine(part)).toMatch(
      /^\[Part of line 1 of 2\. Continue with offset=1 column=1001\. /,
    );
    const end = await read(files, path, { maxChars: 1000, tail: 1, offset: undefined });
    expect(end.text).toBe("next\n");
    const cut = await read(files, await put("b.txt", "y".repeat(3000)), {
      tail: 1,
      maxChars: 1000,
    });
    expect(cut).toMatchObject({ text: "y".repeat(1000), isCut: true });
  });

  it("handles empty files, missing line ends and CR line ends", async () => {
    const { files, put } = await scratch();
    const empty = await read(files, await put("empty", ""));
    expect(empty).toMatchObject({ text: "", lines: 0, totalLines: 0, ends: true });
    expect(factsLine(empty)).toMatch(/^\[The file is empty\. /);
    const open = await read(files, await put("open", "a\nb"));
    expect(open.totalLines).toBe(2);
    expect(factsLine(open)).toContain(" No newline at the end of the file. ");
    expect(await read(files, await put("mac", "a\rb\rc\r"), { offset: 2, limit: 1 })).toMatchObject(
      {
        text: "b\r",
        totalLines: 3,
      },
    );
    expect(await read(files, await put("one", "\n"), { tail: 1 })).toMatchObject({
      text: "\n",
      lines: 1,
    });
  });

  it("decodes UTF-16 and windows-1252, ranges included", async () => {
    const { files, put } = await scratch();
    const wide = await put("wide", Buffer.from(`\ufeff${"grüße\r\n".repeat(50)}ende`, "utf16le"));
    expect(await read(files, wide, { offset: 51 })).toMatchObject({
      text: "ende",
      encoding: "utf-16le",
      bom: true,
    });
    expect((await read(files, wide, { tail: 2 })).text).toBe("grüße\r\nende");
    const latin = await put("latin", Buffer.from("a\ncaf\xe9 \x80\n", "latin1"));
    expect(await read(files, latin, { tail: 1 })).toMatchObject({
      text: "café €\n",
      encoding: "windows-1252",
    });
    expect((await read(files, latin, { encoding: "utf-8" })).damaged).toBe(true);
  });

  it("refuses binary files, contradictions and offsets past the end", async () => {
    const { files, put } = await scratch();
    const binary = await put("x.png", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));
    await expect(read(files, binary)).rejects.toMatchObject({
      kind: "invalid",
      hint: expect.stringContaining("read_media_file"),
    });
    const path = await put("a.txt", TEXT);
    await expect(read(files, path, { head: 1, tail: 1 })).rejects.toThrow("head and tail");
    await expect(read(files, path, { tail: 1, limit: 1 })).rejects.toThrow("tail and offset");
    await expect(read(files, path, { offset: 1001 })).rejects.toThrow("the file has 1,000 lines");
    await expect(read(files, path, { offset: 5, column: 20 })).rejects.toThrow(
      "Line 5 has only 6 characters",
    );
    await expect(read(files, path, { encoding: "utf-16le", head: 1 })).resolves.toBeDefined();
  });
});

describe.skipIf(process.platform === "win32")("special files", () => {
  it("are refused at once: FIFO, socket, device", async () => {
    const { files, at } = await scratch();
    await promisify(execFile)("mkfifo", [at("pipe")]);
    await expect(read(files, at("pipe"))).rejects.toMatchObject({ kind: "denied" });
    const server = createServer().listen(at("socket"));
    try {
      await new Promise((resolve) => server.once("listening", resolve));
      await expect(read(files, at("socket"))).rejects.toMatchObject({ kind: "denied" });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    await expect(read(files, join("/dev", "zero"))).rejects.toMatchObject({ kind: "denied" });
  });

  it("reports when an encoding is a guess", async () => {
    const { files, put } = await scratch();
    const sure = "这是一个用于测试的中文文本文件";
    const bytes = "D5E2CAC7D2BBB8F6D3C3D3DAB2E2CAD4B5C4D6D0CEC4CEC4B1BECEC4BCFE";
    const chinese = await files.readText(await put("a", Buffer.from(bytes, "hex")), {
      maxChars: 100,
    });
    expect(chinese).toMatchObject({ text: sure, encoding: "gb18030" });
    expect(factsLine(chinese)).not.toContain("guess");
    const short = await files.readText(await put("b", Buffer.from("C4E3BAC3", "hex")), {
      maxChars: 100,
    });
    expect(factsLine(short)).toContain("The encoding is a guess");
    const result = await files.readText(await put("b", Buffer.from("C4E3BAC3", "hex")), {
      maxChars: 9,
      encoding: "gbk",
    });
    expect(result.text).toBe("你好");
  });
});
