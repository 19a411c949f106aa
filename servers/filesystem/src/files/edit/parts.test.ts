import { stat, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";
import { type WriteRequest, writeAnswer } from "./write.ts";

function request(path: string, more: Partial<WriteRequest>): WriteRequest {
  return { path, mode: "overwrite", create_parents: false, ...more };
}

describe("parts", () => {
  it("merges lines of files and text, in one encoding and with one kind of line endings", async () => {
    const { files, at, put, read } = await scratch();
    await put("a", "a1\r\na2\r\na3");
    await put("b", Buffer.from("\ufeffb1\nb2\nbä3\n", "utf16le"));
    const parts = [
      { path: at("a"), from: 2 },
      { text: "--\r\n" },
      { path: at("b"), from: 2, to: 3 },
      { path: at("a"), to: 1 },
    ];
    const written = await files.write(request(at("merged"), { parts }));
    expect(await read("merged")).toBe("a2\r\na3\r\n--\r\nb2\r\nbä3\r\na1\r\n");
    await files.undo(written.receipt?.changeId ?? "");
    await expect(stat(at("merged"))).rejects.toThrow("ENOENT");
  });

  it("transforms text and lines", async () => {
    const { files, at, put, read } = await scratch();
    await put("list", "b10\nb9 \na\nb9 \nA\n");
    const change = async (...transform: NonNullable<WriteRequest["transform"]>) => {
      await files.write(request(at("out"), { parts: [{ path: at("list") }], transform }));
      return read("out");
    };
    expect(await change("upper", "trim")).toBe("B10\nB9\nA\nB9\nA\n");
    expect(await change("lower", "sort", "unique")).toBe("a\nb9 \nb10\n");
    expect(await change("reverse")).toBe("A\nb9 \na\nb9 \nb10\n");
    // A file can be transformed in place.
    await files.write(request(at("list"), { parts: [{ path: at("list") }], transform: ["sort"] }));
    expect(await read("list")).toBe("A\na\nb9 \nb9 \nb10\n");
    await files.write(request(at("text"), { content: "abc", transform: ["upper"] }));
    expect(await read("text")).toBe("ABC");
  });

  it("merges large files piece by piece, all or nothing", async () => {
    const { files, at, put, read, list } = await scratch();
    const line = "a line with an ä and more\r\n";
    await put("large", line.repeat(60_000));
    const parts = [{ path: at("large") }, { path: at("large"), from: 59_999 }, { text: "end" }];
    const written = await files.write(request(at("out"), { parts, transform: ["upper"] }));
    const whole = await read("out");
    expect(whole.length).toBe(line.length * 60_002 + 3);
    expect(whole === `${line.toUpperCase().repeat(60_002)}END`).toBe(true);
    expect(written).toMatchObject({ created: true, size: (line.length + 1) * 60_002 + 3 });
    // Not valid after the first pieces.
    await writeFile(
      at("bad"),
      Buffer.concat([Buffer.from(line.repeat(60_000)), Buffer.from([0xc3, 0x28])]),
    );
    const bad = request(at("out"), { parts: [{ path: at("bad") }] });
    await expect(files.write(bad)).rejects.toMatchObject({ kind: "invalid" });
    expect((await read("out")).endsWith("END")).toBe(true);
    expect(await list()).toEqual(["bad", "large", "out"]);
    await files.undo(written.receipt?.changeId ?? "");
    expect(await list()).toEqual(["bad", "large"]);
  });

  it("refuses bad parts before anything is written", async () => {
    const { files, at, put, list, outside } = await scratch();
    await put("a", "one\n");
    await put("b", Buffer.from([0, 1, 2, 0]));
    const path = at("a");
    for (const parts of [
      [{}],
      [{ path, text: "x" }],
      [{ text: "x", from: 1 }],
      [{ path, from: 3, to: 2 }],
      [{ path, from: 3 }],
      [{ text: "x", encoding: "gbk" }],
      [{ path, encoding: "iso-2022-jp" }],
      [{ path: at("b") }],
      [{ path: at("none") }],
      [{ path: outside }],
    ]) {
      await expect(files.write(request(at("out"), { parts }))).rejects.toMatchObject({
        name: "ToolError",
      });
    }
    await expect(files.write(request(at("out"), {}))).rejects.toMatchObject({ kind: "invalid" });
    expect(await list()).toEqual(["a", "b"]);
  });
});

describe("encodings of parts", () => {
  const GBK = Buffer.from("cfeec4bfd4a4cbe3a3ba34373131", "hex");

  it("writes nothing if an encoding can only be guessed, until it is named", async () => {
    const { files, at, put, read, list } = await scratch();
    await put("预算.txt", GBK);
    await put("a", "Zürich\n");
    const parts = [{ path: at("a") }, { path: at("预算.txt") }];
    await expect(files.write(request(at("out"), { parts }))).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("can only be guessed"),
      hint: expect.stringContaining("encoding: gbk"),
    });
    expect(await list()).toEqual(["a", "预算.txt"]);
    const sure = [{ path: at("a") }, { path: at("预算.txt"), encoding: "GB2312" }];
    const written = await files.write(request(at("out"), { parts: sure }));
    expect(await read("out")).toBe("Zürich\n项目预算：4711");
    expect(written.notes).toEqual([]);
    const wrong = [{ path: at("预算.txt"), encoding: "utf-8" }];
    await expect(files.write(request(at("out"), { parts: wrong }))).rejects.toMatchObject({
      kind: "invalid",
    });
    expect(await read("out")).toBe("Zürich\n项目预算：4711");
  });

  it("reports which encoding was recognized", async () => {
    const { files, at, put, read } = await scratch();
    await put("old", Buffer.from("Grüße aus Köln", "latin1"));
    const written = await files.write(request(at("out"), { parts: [{ path: at("old") }] }));
    expect(await read("out")).toBe("Grüße aus Köln");
    expect(writeAnswer(written)).toContain(`"${at("old")}" was read as windows-1252.`);
    const parts: { path: string }[] = [];
    for (let i = 0; i < 8; i++)
      parts.push({ path: await put(`old${i}`, Buffer.from("Grüße aus Köln", "latin1")) });
    const many = writeAnswer(await files.write(request(at("out"), { parts })));
    expect(many.match(/was read as/g)).toHaveLength(5);
    expect(many).toContain(" 3 more parts are similar.");
  });
});

describe("what parts cannot have", () => {
  it("names a missing source, not a missing parent", async () => {
    const { files, at } = await scratch();
    const missing = await files
      .write(request(at("out"), { parts: [{ path: at("nope") }] }))
      .catch((e) => e);
    expect(missing).toMatchObject({ kind: "not_found", message: expect.stringContaining("nope") });
    expect(missing.hint ?? "").not.toContain("create_parents");
    await expect(files.write(request(at("no/out"), { content: "x" }))).rejects.toMatchObject({
      kind: "not_found",
      hint: expect.stringContaining("create_parents"),
    });
  });

  it("suggests copy_file for a binary file", async () => {
    const { files, at, put } = await scratch();
    await put("photo", Buffer.from([0, 1, 2, 0]));
    await expect(
      files.write(request(at("out"), { parts: [{ path: at("photo") }] })),
    ).rejects.toMatchObject({
      kind: "invalid",
      hint: expect.stringContaining("copy_file"),
    });
  });

  it("counts the lines of a file that has fewer than were asked for", async () => {
    const { files, at, put, read } = await scratch();
    for (const [name, end] of [
      ["ended", "\n"],
      ["open", ""],
    ] as const) {
      const path = await put(name, `1\n2\n3${end}`);
      const whole = await files.write(request(at("out"), { parts: [{ path, from: 2, to: 3 }] }));
      expect(whole.notes).toEqual([]);
      const fewer = await files.write(
        request(at("out"), { parts: [{ path, from: 2, to: 2_400 }] }),
      );
      expect(await read("out")).toBe(`2\n3${end}`);
      expect(fewer.notes).toEqual([`"${path}" has 3 lines, fewer than 2,400.`]);
      await expect(
        files.write(request(at("out"), { parts: [{ path, from: 4 }] })),
      ).rejects.toMatchObject({
        message: `"${path}" has 3 lines; the part begins at line 4.`,
        hint: "Use lines from 1 to 3.",
      });
    }
  });
});

describe("appending to a large file", () => {
  it("is done in place, undone and redone", async () => {
    const { files, at, put } = await scratch();
    await put("log", "begin\r\n");
    await truncate(at("log"), 40 * 1024 * 1024);
    await writeFile(at("log"), `${"x".repeat(70)}\r\n`.repeat(1_000), { flag: "r+" });
    const { ino, size } = await stat(at("log"));
    const more = request(at("log"), { content: "one\ntwo\n", mode: "append" });
    await expect(files.write(more)).resolves.toMatchObject({
      size: size + 10,
      lines: { added: 2, removed: 0 },
    });
    const { changes } = await files.changes({ limit: 1, maxChars: 1000 });
    expect(await stat(at("log"))).toMatchObject({ ino, size: size + 10 });
    const undone = await files.undo(changes[0]?.change.id ?? "");
    expect(await stat(at("log"))).toMatchObject({ ino, size });
    const redone = await files.undo(undone.receipt.changeId ?? "");
    expect(await stat(at("log"))).toMatchObject({ ino, size: size + 10 });
    await writeFile(at("log"), "by another program", { flag: "a" });
    await expect(files.undo(redone.receipt.changeId ?? "")).rejects.toMatchObject({
      kind: "conflict",
    });
  });
});
