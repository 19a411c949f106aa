import { describe, expect, it } from "vitest";
import { pathText, records, textOf } from "./text.ts";

describe("textOf", () => {
  it("reads UTF-8 as such, and other bytes as Latin-1", () => {
    expect(textOf(Buffer.from("zwölf ✓\n"))).toBe("zwölf ✓\n");
    expect(textOf(Buffer.from([0xe9, 10]))).toBe("é\n");
  });
});

describe("pathText", () => {
  it("shows a name that is not UTF-8 as git does", () => {
    expect(pathText(Buffer.from([0x22, 0xff, 0x5c, 0x61]))).toBe('"\\"\\377\\\\a"');
    expect(pathText(Buffer.from("ünï\n.txt"))).toBe("ünï\n.txt");
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
