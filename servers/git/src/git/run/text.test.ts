import { describe, expect, it } from "vitest";
import { pathText, records, textOf, unquotePath } from "./text.ts";

describe("textOf", () => {
  it("reads UTF-8 as such, and only other lines as Latin-1", () => {
    expect(textOf(Buffer.from("zwölf ✓\n"))).toBe("zwölf ✓\n");
    const mixed = Buffer.concat([
      Buffer.from("zwölf\n"),
      Buffer.from([0xe9, 10]),
      Buffer.from("✓"),
    ]);
    expect(textOf(mixed)).toBe("zwölf\né\n✓");
  });
});

describe("pathText and unquotePath", () => {
  it("round-trip any bytes", () => {
    for (const bytes of [[0x61, 0xef, 0x62], [0x22, 0xff, 0x5c], [0x0a, 0x80], [0x80]]) {
      const path = Buffer.from(bytes);
      const text = pathText(path);
      expect(text).toMatch(/^"[ -~]*"$/);
      expect(unquotePath(text)).toEqual(path);
    }
    expect(pathText(Buffer.from("ünï\n.txt"))).toBe("ünï\n.txt");
    expect(unquotePath('"tab\\there ü"').toString()).toBe("tab\there ü");
    expect(() => unquotePath('"\\q"')).toThrow(/invalid escape/);
  });
});

describe("records", () => {
  it("splits at NUL, with or without one at the end", () => {
    const strings = (text: string) => records(Buffer.from(text)).map(String);
    expect(strings("a\0b\0")).toEqual(["a", "b"]);
    expect(strings("a\0\0b")).toEqual(["a", "", "b"]);
    expect(strings("")).toEqual([]);
  });
});
