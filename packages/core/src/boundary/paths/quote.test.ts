import { describe, expect, it } from "vitest";
import { listed, quote } from "./quote.ts";

describe("quote", () => {
  it("keeps a name on one line and truncates it", () => {
    expect(quote("/a b/é")).toBe('"/a b/é"');
    expect(quote("a\nError: forged")).toBe('"a\\nError: forged"');
    expect(quote("x".repeat(10_000))).toBe(`"${"x".repeat(300)}…"`);
  });
});

describe("listed", () => {
  it("is an enumeration with an end", () => {
    expect(listed([])).toBe("");
    expect(listed(["a"])).toBe("a");
    expect(listed(["a", "b"])).toBe("a and b");
    expect(listed(["a", "b", "c"])).toBe("a, b and c");
    expect(listed(["a", "b", "c", "d"], 2)).toBe("a, b and 2 more");
  });
});
