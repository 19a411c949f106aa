import { describe, expect, it } from "vitest";
import { LineReader } from "./lines.ts";

type Line = NonNullable<ReturnType<LineReader["next"]>>;

function readAll(reader: LineReader): Line[] {
  const lines: Line[] = [];
  for (let line = reader.next(); line !== undefined; line = reader.next()) lines.push(line);
  return lines;
}

/** The lines of `bytes`, pushed in chunks of `size`. */
function split(bytes: Buffer, size: number, maxBytes = 1000): Line[] {
  const reader = new LineReader(maxBytes);
  const lines: Line[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    reader.push(bytes.subarray(at, at + size));
    lines.push(...readAll(reader));
  }
  const last = reader.last();
  return last === undefined ? lines : [...lines, last];
}

const texts = (lines: Line[]): string[] =>
  lines.map((line) => (line.kind === "text" ? line.text : line.kind));

describe("LineReader", () => {
  it.each([1, 2, 3, 5, 1000])("reads the same lines from chunks of %i bytes", (size) => {
    const bytes = Buffer.from('\ufeff{"a":"häß€😀"}\r\n\n{"b":"\u2028\u2029\u0085"}\n \n{"c":1}');
    expect(texts(split(bytes, size))).toEqual([
      '{"a":"häß€😀"}\r',
      "",
      '{"b":"\u2028\u2029\u0085"}',
      " ",
      '{"c":1}',
    ]);
  });

  it.each([
    ["a stray continuation byte", [0x22, 0x80, 0x22]],
    ["a sequence that is cut off by the line", [0x22, 0xe2, 0x82]],
    ["an overlong form", [0x22, 0xc0, 0xaf, 0x22]],
    ["a surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["UTF-16", [0xff, 0xfe, 0x7b, 0x00]],
  ])("reports a line that is not UTF-8: %s", (_name, bytes) => {
    expect(texts(split(Buffer.from([...bytes, 0x0a, 0x31, 0x0a]), 2))).toEqual(["not-utf8", "1"]);
  });

  it.each([1, 7, 4096])(
    "skips a line over the limit and continues, in chunks of %i bytes",
    (size) => {
      const bytes = Buffer.from(
        `${"a".repeat(10)}\n${"b".repeat(11)}\n${"c".repeat(5000)}\nd\n${"e".repeat(11)}`,
      );
      expect(texts(split(bytes, size, 10))).toEqual([
        "aaaaaaaaaa",
        "too-long",
        "too-long",
        "d",
        "too-long",
      ]);
    },
  );

  it("holds at most a few times the limit, however long a line is", () => {
    const reader = new LineReader(1 << 20);
    const chunk = Buffer.alloc(65_536, "x");
    globalThis.gc?.();
    const before = process.memoryUsage();
    for (let pushed = 0; pushed < 200 << 20; pushed += chunk.length) {
      reader.push(chunk);
      expect(reader.next()).toBeUndefined();
    }
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(64 << 20);
    reader.push(Buffer.from("\n1\n"));
    expect(texts(readAll(reader))).toEqual(["too-long", "1"]);
  });
});
