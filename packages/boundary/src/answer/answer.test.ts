import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  cleanText,
  clip,
  countOf,
  cursorsOf,
  digits,
  errorsOf,
  fitCount,
  manyLines,
  nearest,
  oneLine,
  sizeOf,
  ToolError,
  visibleJson,
} from "./index.ts";

describe("cursorsOf", () => {
  const codec = cursorsOf("list_things", { path: "/a" }, z.tuple([z.int(), z.string()]));

  it("returns the encoded state", () => {
    expect(codec.decode(codec.encode([5, "é"]))).toEqual([5, "é"]);
    expect(codec.decode(undefined)).toBeUndefined();
  });

  it("refuses a damaged cursor with a hint", () => {
    for (const cursor of ["", "%%%", "AAAA", codec.encode([1, "a"]).slice(2)]) {
      expect(() => codec.decode(cursor)).toThrow(/is damaged/);
    }
  });

  it("refuses a cursor from another query, another list or another shape", () => {
    const others = [
      cursorsOf("list_things", { path: "/b" }, z.unknown()).encode([1, "a"]),
      cursorsOf("list_others", { path: "/a" }, z.unknown()).encode([1, "a"]),
      cursorsOf("list_things", { path: "/a" }, z.unknown()).encode({ offset: 1 }),
    ];
    for (const cursor of others) expect(() => codec.decode(cursor)).toThrow(ToolError);
  });
});

describe("fitting", () => {
  it("counts items that fit, always at least one", () => {
    expect(fitCount(["aa", "bb", "cc"], 10)).toBe(2);
    expect(fitCount(["aa", "bb", "cc"], 15)).toBe(3);
    expect(fitCount(["a".repeat(100), "b"], 10)).toBe(1);
    expect(fitCount([], 10)).toBe(0);
    expect(fitCount([3, 3, 3], 7, (item) => item)).toBe(2);
  });
});

describe("clip", () => {
  it("never splits a surrogate pair", () => {
    expect(clip("ab", 2)).toBe("ab");
    expect(clip("a😀b", 2)).toBe("a");
    expect(clip("a😀b", 3)).toBe("a😀");
  });
});

describe("numbers for people", () => {
  it("groups digits and chooses units", () => {
    const files = [0, 1, 2].map((count) => countOf(count, "file"));
    expect(files).toEqual(["0 files", "1 file", "2 files"]);
    expect(countOf(2, "match", "matches")).toBe("2 matches");
    expect([0, 999, 1000, 1234567].map(digits)).toEqual(["0", "999", "1,000", "1,234,567"]);
    const sizes = [0, 1023, 1536, 12 * 1024 ** 2, 5 * 1024 ** 4].map(sizeOf);
    expect(sizes).toEqual(["0 B", "1023 B", "1.5 KiB", "12 MiB", "5.0 TiB"]);
  });
});

describe("nearest", () => {
  it("finds typos, but no distant words", () => {
    const names = nearest("git_lgo", ["git_log", "git_status", "git_logs"]);
    expect(names).toEqual(["git_log", "git_logs"]);
    expect(nearest("READ", ["read", "write"])).toEqual(["read"]);
    expect(nearest("anything", ["zebra"])).toEqual([]);
    expect(nearest("", ["a"])).toEqual(["a"]);
    expect(nearest("no", ["f", "on"])).toEqual([]);
  });
});

describe("oneLine", () => {
  it("escapes characters that could forge a line or hide, and leaves text unchanged", () => {
    expect(oneLine("a\nb\r\tc")).toBe("a\\nb\\r\\tc");
    expect(oneLine("\u001b[31m\u202e\u2028\u{e0041}\ufeff")).toBe(
      "\\u{1b}[31m\\u{202e}\\u{2028}\\u{e0041}\\u{feff}",
    );
    expect(oneLine("naïve 👩‍💻 می‌خواهم")).toBe("naïve 👩‍💻 می‌خواهم");
    expect(oneLine("lone \ud800")).toBe("lone \ufffd");
  });
});

describe("untrusted text of several lines", () => {
  // Invisible: controls, bidirectional text, tags, variation selectors, and bits written as joiners.
  const hidden =
    "a\u001b[31mred\u001b]0;t\u0007\u009b2J\rb\u202e\u2066\u{e0041}\u{e0142}c\u200c\u200d\u200b";

  it("manyLines escapes what is hidden, and keeps lines, tabs and joiners between letters", () => {
    expect(manyLines(`one\r\n\ttwo\n${hidden}`)).toBe(
      "one\n\ttwo\na\\u{1b}[31mred\\u{1b}]0;t\\u{7}\\u{9b}2J\\rb\\u{202e}\\u{2066}\\u{e0041}\\u{e0142}c\\u{200c}\\u{200d}\\u{200b}",
    );
    const written = "naïve 👩‍💻 👁️‍🗨️ می‌خواهم 葛\u{e0100} \ttab\n";
    expect([manyLines(written), cleanText(written), visibleJson(written)]).toEqual([
      written,
      written,
      written.replace("\t", "\\u0009"),
    ]);
  });

  it("cleanText removes it, with terminal sequences as a whole", () => {
    expect(cleanText(`${hidden}\r\nd\u2028e`)).toBe("ared\nbc\nd\ne".replace("ared", "ared2J"));
  });

  it("visibleJson leaves the value of JSON unchanged", () => {
    const json = JSON.stringify({ hidden }, undefined, 2);
    expect(JSON.parse(visibleJson(json))).toEqual({ hidden });
    expect(visibleJson(json)).toMatch(/^[\n -~]*$/);
  });
});

describe("errors of a table", () => {
  const failure = errorsOf({ locked: ["conflict", "Try again later."], bad_date: ["invalid"] });

  it("have the code's kind and hint, or another one, and may have facts and a cause", () => {
    const message = "The file is locked.";
    const expected = { name: "ToolError", kind: "conflict", code: "locked", message };
    expect(failure("locked", message)).toMatchObject({ ...expected, hint: "Try again later." });
    const options = { hint: "Close it.", data: { path: "a" }, cause: new Error("EBUSY") };
    expect(failure("locked", message, options)).toMatchObject({ ...expected, ...options });
    expect(failure("bad_date", "No date.").hint).toBeUndefined();
  });
});
