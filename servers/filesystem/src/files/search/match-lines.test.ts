import { open } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { lines, searcherOf, utf16 } from "../../../test/text-search.ts";
import { makeTree } from "../../../test/tree.ts";

const ONLY_NAMES = "Of 1 archive only the names of the entries were searched.";

describe("what counts as text", () => {
  it("skips binary files and reads UTF-16 with a byte order mark", async () => {
    const tree = await makeTree({
      "binary-begin": Buffer.from("\0x\nneedle\n"),
      "binary-end": Buffer.concat([Buffer.from("needle\n".repeat(50_000)), Buffer.from([0])]),
      "le.txt": utf16("eins\nzwei needle 😀\n"),
      "be.txt": utf16("needle drei\n", true),
      "bom.txt": "\uFEFFneedle at the begin\n",
      "no-bom-utf16.txt": Buffer.from("needle", "utf16le"),
      "empty.zip": Buffer.from(`504b0506${"0".repeat(36)}`, "hex"),
    });
    const search = searcherOf(tree);
    const expected = [
      "be.txt:1:needle drei",
      "bom.txt:1:needle at the begin",
      "le.txt:2:zwei needle 😀",
    ];
    expect(lines(tree, await search({ pattern: "needle" }))).toEqual(expected);
    expect(lines(tree, await search({ pattern: "^needle" }))).toEqual(expected.slice(0, 2));
    // Their text is not searched, so nothing that is not found is missed silently.
    expect((await search({ pattern: "absent" })).notes).toEqual([
      "3 binary files were not searched.",
      ONLY_NAMES,
    ]);
    expect((await search({ pattern: "absent", path: "empty.zip" })).notes).toEqual([ONLY_NAMES]);
    for (const path of ["binary-begin", "binary-end"]) {
      expect(await search({ pattern: "needle", path })).toMatchObject({
        files: [],
        total_lines: 0,
        notes: ["1 binary file was not searched."],
      });
    }
  });

  it("matches single lines with any line endings", async () => {
    const tree = await makeTree({
      crlf: "foo\r\nbar\r\n",
      open: "foo\nbar",
      empty: "",
      blank: "\n\n",
    });
    const search = searcherOf(tree);
    expect(lines(tree, await search({ pattern: "foo$" }))).toEqual(["crlf:1:foo", "open:1:foo"]);
    expect(lines(tree, await search({ pattern: "bar$" }))).toEqual(["crlf:2:bar", "open:2:bar"]);
    expect(lines(tree, await search({ pattern: "^$" }))).toEqual(["blank:1:", "blank:2:"]);
    expect(lines(tree, await search({ pattern: "o[^x]+b|foo\\sbar|o\\W+b" }))).toEqual([]);
    await expect(search({ pattern: "foo\\nbar" })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("line break"),
    });
    await expect(search({ pattern: "foo\nbar", literal: true })).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("shows bytes that are not UTF-8 and matches around them", async () => {
    const tree = await makeTree({ latin: Buffer.from("caf\xe9 needle\na\xffb\n", "latin1") });
    const search = searcherOf(tree);
    expect(lines(tree, await search({ pattern: "needle" }))).toEqual(["latin:1:café needle"]);
    expect(lines(tree, await search({ pattern: "é" }))).toEqual(["latin:1:café needle"]);
    expect(lines(tree, await search({ pattern: "a.b" }))).toEqual(["latin:2:a˙b"]);
  });

  it("searches a line of 10 MB, including where chunks meet", async () => {
    const tree = await makeTree({});
    const file = await open(tree.at("huge"), "w");
    const part = Buffer.alloc(2 * 1024 * 1024, "a");
    for (let i = 0; i < 5; i++) {
      await file.write(part);
      await file.write(i === 1 ? "needle-one" : i === 4 ? "needle-two\nnext needle" : "");
    }
    await file.close();
    const search = searcherOf(tree);
    const result = await search({ pattern: "needle(-one)?", context: 1 });
    expect(result).toMatchObject({ total_files: 1, total_lines: 3 });
    // A line of more than 8 MiB is read in parts.
    expect(result.files[0]?.matches?.map(({ line }) => line)).toEqual([1, 1, 2]);
    expect(result.files[0]?.matches?.[0]?.text).toContain("needle-one");
    expect((await search({ pattern: "needle", mode: "counts" })).files).toEqual([
      { path: tree.at("huge"), lines: 3 },
    ]);
    expect((await search({ pattern: "a{5}needle-two" })).total_lines).toBe(1);
  });
});
