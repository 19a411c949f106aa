import { describe, expect, it, onTestFinished, vi } from "vitest";
import { isLong } from "../../../../../vitest.long.ts";
import { type Scratch, scratch } from "../../../test/scratch.ts";
import type { EditRequest } from "./edit.ts";
import type { Edit } from "./edit-text.ts";

/** Lines of a large file. */
const MANY = isLong ? 100_000 : 40_000;

function edit(
  files: Scratch["files"],
  path: string,
  edits: Edit[],
  more: Partial<EditRequest> = {},
) {
  return files.edit({ path, edits, replace_all: false, dryRun: false, maxChars: 20_000, ...more });
}

describe("edit", () => {
  it("applies edits in order, all or none", async () => {
    const { files, put, read } = await scratch();
    const path = await put("a.txt", "one\ntwo\n");
    await edit(files, path, [
      { oldText: "one", newText: "uno\nmedio" },
      { oldText: "medio\ntwo", newText: "dos" },
    ]);
    expect(await read("a.txt")).toBe("uno\ndos\n");
    await expect(
      edit(files, path, [
        { oldText: "uno", newText: "1" },
        { oldText: "tres", newText: "3" },
      ]),
    ).rejects.toThrow('oldText of edit 2 of 2 "tres" is not in');
    expect(await read("a.txt")).toBe("uno\ndos\n");
  });

  it("refuses an ambiguous text, lists its lines, and changes nothing", async () => {
    const { files, put, read } = await scratch();
    const content = "x = 1\ny = 2\nx = 1\n\nx = 1\n";
    const path = await put("a.txt", content);
    await expect(edit(files, path, [{ oldText: "x = 1", newText: "x = 3" }])).rejects.toMatchObject(
      {
        kind: "invalid",
        message: `oldText occurs 3 times in "${path}", at lines 1, 3, 5; nothing was changed.`,
        hint: expect.stringContaining("replace_all"),
      },
    );
    expect(await read("a.txt")).toBe(content);
    const all = await edit(files, path, [{ oldText: "x = 1", newText: "x = 3" }], {
      replace_all: true,
    });
    expect(all).toMatchObject({ replacements: 3, added: 3, removed: 3 });
    expect(await read("a.txt")).toBe("x = 3\ny = 2\nx = 3\n\nx = 3\n");
  });

  it("takes $ in a replacement literally", async () => {
    const { files, put, read } = await scratch();
    const path = await put("a.txt", "price\n");
    await edit(files, path, [{ oldText: "price", newText: "$& $1 $$ $` $' $<x>" }]);
    expect(await read("a.txt")).toBe("$& $1 $$ $` $' $<x>\n");
  });

  it("shows the closest match if a text is missing", async () => {
    const { files, put } = await scratch();
    const lines = Array.from(
      { length: 50 },
      (_, index) => `  const value${index} = compute(${index});`,
    );
    const path = await put("a.ts", `${lines.join("\n")}\n`);
    const typo = edit(files, path, [{ oldText: "const value30 = compte(30);", newText: "" }]);
    await expect(typo).rejects.toMatchObject({ kind: "not_found" });
    await expect(typo).rejects.toThrow(
      "The closest match is line 31:\n  const value30 = compute(30);",
    );
    const indented = "\tconst value7 = compute(7);\n\tconst value8 = compute(8);";
    await expect(edit(files, path, [{ oldText: indented, newText: "" }])).rejects.toThrow(
      "The closest match is line 8 (compare its whitespace and the lines around it):\n  const value7",
    );
    const partly =
      "  const value40 = compute(40);\n  const other = 1;\n  const value42 = compute(42);";
    await expect(edit(files, path, [{ oldText: partly, newText: "" }])).rejects.toThrow(
      "closest match is line 41",
    );
    await expect(
      edit(files, path, [{ oldText: "日本語の文字列です", newText: "" }]),
    ).rejects.toThrow("The file contains nothing similar");
    await expect(edit(files, path, [{ oldText: "", newText: "x" }])).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("matches CRLF files with LF edits and keeps every line ending", async () => {
    const { files, put, bytes } = await scratch();
    const path = await put("dos.txt", "one\r\ntwo\r\nthree\r\n");
    const edited = await edit(files, path, [{ oldText: "one\ntwo", newText: "1\n1.5\n2" }]);
    expect((await bytes("dos.txt")).toString()).toBe("1\r\n1.5\r\n2\r\nthree\r\n");
    expect(edited.diff).not.toContain("\r");
    await edit(files, path, [{ oldText: "2\r\nthree", newText: "2\r\n3" }]);
    expect((await bytes("dos.txt")).toString()).toBe("1\r\n1.5\r\n2\r\n3\r\n");
    const mixed = await put("mixed.txt", "a\r\nb\nc\r\nd\ne");
    await edit(files, mixed, [{ oldText: "a\nb\nc\nd", newText: "a\nb\nc\nnew\nD" }]);
    expect((await bytes("mixed.txt")).toString()).toBe("a\r\nb\nc\r\nnew\r\nD\ne");
    const mac = await put("mac.txt", "a\rb\rc\r");
    await edit(files, mac, [{ oldText: "b\n", newText: "x\ny\n" }]);
    expect((await bytes("mac.txt")).toString()).toBe("a\rx\ry\rc\r");
  });

  it("preserves a file that is not UTF-8 byte for byte outside the edited range", async () => {
    const { files, put, bytes } = await scratch();
    const latin = Buffer.from("na\xefve caf\xe9 \x80\x81\nold\n\xff\xfe end\n", "latin1");
    await edit(files, await put("latin", latin), [{ oldText: "old", newText: "né€" }]);
    expect(
      (await bytes("latin")).equals(
        Buffer.from("na\xefve caf\xe9 \x80\x81\nn\xe9\x80\n\xff\xfe end\n", "latin1"),
      ),
    ).toBe(true);
    const wide = await put("wide", Buffer.from("\ufeffone\r\ntwo\r\n", "utf16le"));
    await edit(files, wide, [{ oldText: "two", newText: "zwölf" }]);
    expect((await bytes("wide")).equals(Buffer.from("\ufeffone\r\nzwölf\r\n", "utf16le"))).toBe(
      true,
    );
    const marked = await put("bom", "\ufeffone\n");
    await edit(files, marked, [{ oldText: "one", newText: "eins" }]);
    expect((await bytes("bom")).equals(Buffer.from("\ufeffeins\n"))).toBe(true);
    const stray = (word: string) =>
      Buffer.concat([
        Buffer.from(`größe äöü ${word} ß`),
        Buffer.from([0xff, 0xc3]),
        Buffer.from("\n"),
      ]);
    await edit(files, await put("stray", stray("old")), [{ oldText: "old", newText: "neu" }]);
    expect((await bytes("stray")).equals(stray("neu"))).toBe(true);
    await expect(
      edit(files, await put("bin", Buffer.alloc(10)), [{ oldText: "a", newText: "b" }]),
    ).rejects.toThrow("binary");
  });

  it("loses none of 20 edits by two servers: edits not applied are refused with conflict", async () => {
    const { files, another, put, read } = await scratch();
    const path = await put(
      "a.txt",
      Array.from({ length: 20 }, (_, index) => `[old ${index}]\n`).join(""),
    );
    const servers = [files, another()];
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        edit(servers[index % 2] ?? files, path, [
          { oldText: `[old ${index}]`, newText: `[new ${index}]` },
        ]).then(
          () => "done",
          (error: { kind?: string }) => error.kind,
        ),
      ),
    );
    const text = await read("a.txt");
    for (const [index, outcome] of outcomes.entries()) {
      expect(["done", "conflict"]).toContain(outcome);
      expect(text).toContain(outcome === "done" ? `[new ${index}]` : `[old ${index}]`);
    }
  });

  it("keeps the server responsive while a large file is edited or compared, and stops when cancelled", async () => {
    const { files, put, read, root } = await scratch();
    onTestFinished(() => files.close());
    // On a busy machine this work exceeds the time limit of an edit.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const lines = Array.from({ length: MANY }, (_, index) => `this is line number ${index}.\n`);
    const path = await put("a.txt", lines.join(""));
    const edits = Array.from({ length: 300 }, (_, index) => ({
      oldText: `number ${(index * MANY) / 400}.`,
      newText: `no. ${(index * MANY) / 400}.`,
    }));
    // Each of these would block everything for seconds.
    const missing = { oldText: "this is line numbre 7 000.", newText: "" };
    let isDone = false;
    const work = edit(files, path, [...edits.slice(0, 60), missing], { dryRun: true }).catch(
      (error: unknown) => {
        isDone = true;
        return error;
      },
    );
    for (let index = 0; index < 20; index++) {
      await files.list({ path: root, details: false, sort: "name", limit: 10, budget: 20_000 });
    }
    expect(isDone).toBe(false);
    expect(await work).toMatchObject({
      kind: "not_found",
      message: expect.stringContaining("closest match is"),
    });

    const controller = new AbortController();
    const cancelled = edit(files, path, edits, { signal: controller.signal });
    await files.list({ path: root, details: false, sort: "name", limit: 10, budget: 20_000 });
    controller.abort(new Error("taken back"));
    await expect(cancelled).rejects.toThrow("taken back");
    expect(await read("a.txt")).toBe(lines.join(""));
    expect((await edit(files, path, edits)).replacements).toBe(300);
  });
});
