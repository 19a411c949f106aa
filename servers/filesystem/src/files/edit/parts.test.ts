import { stat, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { scratch } from "../../../test/scratch.ts";
import { type WriteRequest, writeAnswer } from "./write.ts";

function request(path: string, more: Partial<WriteRequest>): WriteRequest {
  return { path, mode: "overwrite", create_parents: false, ...more };
}

describe("parts", () => {
  it("joins lines of a file, with its line endings", async () => {
    const { files, at, put, read } = await scratch();
    const path = await put("a", "a1\r\na2\r\na3");
    const parts = [
      { path, from: 2 },
      { path, to: 1 },
      { path, from: 2, to: 2 },
    ];
    const written = await files.write(request(at("out"), { parts }));
    expect(await read("out")).toBe("a2\r\na3\r\na1\r\na2\r\n");
    await files.undo(written.receipt?.changeId ?? "");
    await expect(stat(at("out"))).rejects.toThrow("ENOENT");
    // A file can be cut in place, and another one appended to it.
    await files.write(request(path, { parts: [{ path, to: 1 }] }));
    const other = await put("b", Buffer.from("\ufeffb1\nb2\nbä3\n", "utf16le"));
    await files.write(request(path, { parts: [{ path: other, from: 2 }], mode: "append" }));
    expect(await read("a")).toBe("a1\r\nb2\r\nbä3\r\n");
  });

  it("copies lines of large files piece by piece, all or nothing", async () => {
    const { files, at, put, read, list } = await scratch();
    const line = "a line with an ä and more\r\n";
    const path = await put("large", `${line.repeat(60_000)}end`);
    const written = await files.write(
      request(at("out"), { parts: [{ path }, { path, from: 59_999 }] }),
    );
    const whole = await read("out");
    expect(whole === `${line.repeat(60_000)}end\r\n${line.repeat(2)}end`).toBe(true);
    expect(written).toMatchObject({ created: true, size: Buffer.byteLength(whole) });
    // Not valid after the first pieces.
    await writeFile(
      at("bad"),
      Buffer.concat([Buffer.from(line.repeat(60_000)), Buffer.from([0xc3, 0x28])]),
    );
    const bad = request(at("out"), { parts: [{ path: at("bad") }] });
    await expect(files.write(bad)).rejects.toMatchObject({ kind: "invalid" });
    expect((await read("out")).endsWith("end")).toBe(true);
    expect(await list()).toEqual(["bad", "large", "out"]);
    await files.undo(written.receipt?.changeId ?? "");
    expect(await list()).toEqual(["bad", "large"]);
  });

  it("refuses bad parts before anything is written", async () => {
    const { files, at, put, list, outside } = await scratch();
    const path = await put("a", "one\n");
    await put("b", Buffer.from([0, 1, 2, 0]));
    await put("c", "two\n");
    for (const parts of [
      [],
      [{ path }, { path: at("c") }],
      [{ path, from: 3, to: 2 }],
      [{ path, from: 3 }],
      [{ path: at("b") }],
      [{ path: at("none") }],
      [{ path: outside }],
    ]) {
      await expect(files.write(request(at("out"), { parts }))).rejects.toMatchObject({
        name: "ToolError",
      });
    }
    await expect(files.write(request(at("out"), {}))).rejects.toMatchObject({ kind: "invalid" });
    expect(await list()).toEqual(["a", "b", "c"]);
  });
});

describe("encodings of parts", () => {
  it("writes nothing if the encoding can only be guessed", async () => {
    const { files, at, put, list } = await scratch();
    await put("预算.txt", Buffer.from("cfeec4bfd4a4cbe3a3ba34373131", "hex"));
    const parts = [{ path: at("预算.txt") }];
    await expect(files.write(request(at("out"), { parts }))).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("can only be guessed"),
    });
    expect(await list()).toEqual(["预算.txt"]);
  });

  it("reports which encoding was recognized", async () => {
    const { files, at, put, read } = await scratch();
    await put("old", Buffer.from("Grüße aus Köln", "latin1"));
    const written = await files.write(request(at("out"), { parts: [{ path: at("old") }] }));
    expect(await read("out")).toBe("Grüße aus Köln");
    expect(writeAnswer(written)).toContain(`"${at("old")}" was read as windows-1252.`);
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
