import { describe, expect, it } from "vitest";
import { bounded } from "./bounded.ts";
import { fromStored, toStored } from "./postgres/text.ts";
import { fold, hasWord, isWordTerm, snippet, termsOf } from "./text.ts";

describe("fold", () => {
  it.each([
    ["Café", "cafe"],
    ["STRASSE straße", "strasse strasse"],
    ["İstanbul ıstanbul", "istanbul istanbul"],
    ["Ελλάς ΕΛΛΆΣ", "ελλασ ελλασ"],
    ["ﬁne Ｆｕｌｌ", "fine full"],
    ["Łódź", "lodz"],
    ["a\0b\tc", "a b c"],
    ["क्या", "क्या"],
  ])("%j → %j", (text, folded) => expect(fold(text)).toBe(folded));
});

describe("terms and words", () => {
  it("cuts a query at spaces and keeps each term once", () => {
    expect(termsOf("  Ada ada\tTEA\u3000c++ ")).toEqual(["ada", "tea", "c++"]);
  });

  it("knows which terms are words", () => {
    expect(["a", "node.js", "8", "東京"].map(isWordTerm)).toEqual([true, true, true, true]);
    expect(["c++", "#tag", "-", "(z)"].map(isWordTerm)).toEqual([false, false, false, false]);
    expect(hasWord("the quick brown", "qui")).toBe(true);
    expect(hasWord("the quick brown", "uick")).toBe(false);
    expect(hasWord("see node.js now", "node.j")).toBe(true);
  });

  it("cuts a snippet around the first term and splits no pair", () => {
    const text = `${"🙂".repeat(300)} needle ${"🙂".repeat(300)}`;
    const cut = snippet(text, ["needle"]);
    expect(cut).toMatch(/^….*needle.*…$/u);
    expect(cut.isWellFormed()).toBe(true);
    expect(snippet("short", ["x"])).toBe("short");
  });
});

it("text with NUL passes PostgreSQL and comes back", () => {
  for (const text of ["plain", "a\0b", "\u{10fffd}0", "\u{10fffd}\0\u{10fffd}1", "\0\0"]) {
    expect(toStored(text)).not.toContain("\0");
    expect(fromStored(toStored(text))).toBe(text);
  }
  expect(toStored("plain")).toBe("plain");
});

it("an echo is cut to the budget and counts what is missing", () => {
  const answer = bounded(
    { names: Array.from({ length: 100 }, (_, index) => `name ${index}`), change_id: 7 },
    1_000,
  );
  expect(answer.change_id).toBe(7);
  expect(answer.names.length + (answer.not_shown ?? 0)).toBe(100);
  expect(JSON.stringify(answer).length).toBeLessThan(1_000);
  expect(bounded({ names: ["a"] }, 1_000)).toEqual({ names: ["a"] });
});
