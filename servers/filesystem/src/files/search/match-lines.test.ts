import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { lines, searcherOf, utf16 } from "../../../test/text-search.ts";
import { makeTree } from "../../../test/tree.ts";
import { blocksOf } from "./blocks.ts";
import { LineMatcher, matchLines } from "./match-lines.ts";
import { textPattern } from "./text-pattern.ts";

/** One of the encodings that each guess compares. Its class is spied on, because test files share their modules. */
const { default: Compared } = createRequire(import.meta.url)("chardet/lib/encoding/utf8.js");

/** The characters of the bytes 0x80 to 0xFF. */
const KOI8_R =
  "─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u00a0⌡°²·÷═║╒ё╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡Ё╢╣╤╥╦╧╨╩╪╫╬©юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ";

describe("what counts as text", () => {
  it("skips binary files and reads UTF-16 with a byte order mark", async () => {
    const tree = await makeTree({
      "binary-begin": Buffer.from("\0x\nneedle\n"),
      "binary-end": Buffer.concat([Buffer.from("needle\n".repeat(50_000)), Buffer.from([0])]),
      "le.txt": utf16("eins\nzwei needle 😀\n"),
      "be.txt": utf16("needle drei\n", true),
      "bom.txt": "\uFEFFneedle at the begin\n",
      "no-bom-utf16.txt": Buffer.from("needle", "utf16le"),
    });
    const search = searcherOf(tree);
    const expected = [
      "be.txt:1:needle drei",
      "bom.txt:1:needle at the begin",
      "le.txt:2:zwei needle 😀",
    ];
    expect(lines(tree, await search({ pattern: "needle" }))).toEqual(expected);
    expect(lines(tree, await search({ pattern: "^needle" }))).toEqual(expected.slice(0, 2));
    for (const path of ["binary-begin", "binary-end"]) {
      expect(await search({ pattern: "needle", path })).toMatchObject({
        files: [],
        total_lines: 0,
      });
    }
  });

  // A guess takes 5 to 26 ms: a folder of 1,000 photos took 17.7 s.
  it("guesses no encoding for 1,000 photos, other binary files, and text without the word", async () => {
    const jpeg = Buffer.concat([
      Buffer.from("\xff\xd8\xff\xe0\0\x10JFIF\0", "latin1"),
      randomBytes(8_192),
    ]);
    const binary = randomBytes(400).map((byte) => byte || 1);
    const tree = await makeTree({
      ...Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`IMG_${at}.jpg`, jpeg])),
      "small.bin": Buffer.from(binary),
      "latin.txt": Buffer.from("caf\xe9 crème\n", "latin1"),
      "note.txt": Buffer.from("caf\xe9 needle\n", "latin1"),
    });
    const guess = vi.spyOn(Compared.prototype, "match");
    onTestFinished(() => guess.mockRestore());
    const matcher = new LineMatcher(textPattern("needle", { literal: false, ignoreCase: false }));
    const search = (name: string) => {
      const fd = openSync(tree.at(name), "r");
      const request = { from: 1, limit: 10, context: 0 };
      const { lines } = matchLines(blocksOf(fd), matcher, request);
      closeSync(fd);
      return lines;
    };
    for (let at = 0; at < 1_000; at++) expect(search(`IMG_${at}.jpg`)).toEqual([]);
    expect(search("small.bin")).toEqual([]);
    expect(search("latin.txt")).toEqual([]);
    expect(guess).not.toHaveBeenCalled();
    expect(search("note.txt")).toEqual([{ line: 1, text: "café needle" }]);
    expect(guess).toHaveBeenCalledTimes(1);
    const found = await searcherOf(tree)({ pattern: "needle" });
    expect(lines(tree, found)).toEqual(["note.txt:1:café needle"]);
  });

  it("matches single lines whatever their line endings", async () => {
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

  it("reads the encodings of other languages", async () => {
    const text = "Это тестовый файл на русском языке, в нём есть несколько предложений.\n";
    const koi8 = Buffer.from(
      Array.from(text, (char) =>
        KOI8_R.includes(char) ? KOI8_R.indexOf(char) + 0x80 : char.charCodeAt(0),
      ),
    );
    const tree = await makeTree({ "a.txt": koi8 });
    expect(lines(tree, await searcherOf(tree)({ pattern: "тест\\S+" }))).toEqual([
      `a.txt:1:${text.trim()}`,
    ]);
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
    const found = await search({ pattern: "needle(-one)?", context: 1 });
    expect(found).toMatchObject({ total_files: 1, total_lines: 3 });
    // A line of more than 8 MiB is read in parts.
    expect(found.files[0]?.matches?.map(({ line }) => line)).toEqual([1, 1, 2]);
    expect(found.files[0]?.matches?.[0]?.text).toContain("needle-one");
    expect((await search({ pattern: "needle", mode: "counts" })).files).toEqual([
      { path: tree.at("huge"), lines: 3 },
    ]);
    expect((await search({ pattern: "a{5}needle-two" })).total_lines).toBe(1);
  });
});
