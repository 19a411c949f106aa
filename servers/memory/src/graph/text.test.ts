import { describe, expect, it } from "vitest";
import { bounded } from "./read/page.ts";
import { fromStored, toStored } from "./store/postgres-connection.ts";
import { fold, nearForms, queryWords, snippet, spaced } from "./text.ts";

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
  it.each([
    ["  Ada ada\tTEA\u3000node.js? ", ["ada", "tea", "node.js"]],
    ["What does Clara's cat take?", ["clara", "cat", "take"]],
    ["who is the", ["who", "is", "the"]],
    ["100% c++ -", ["100", "c"]],
    ["%", ["%"]],
  ])("cuts the query %j into %j", (query, words) => expect(queryWords(query)).toEqual(words));

  it("splits text without spaces into words", () => {
    const words = queryWords("東京タワーの高さは何メートルですか");
    expect(words.length).toBeGreaterThan(2);
    expect("東京タワーの高さは何メートルですか").toContain(words[0]);
  });

  it("finds similar words for words, not for numbers", () => {
    expect(nearForms("appointments")).toEqual(["appointments", "appointment"]);
    expect(nearForms("b654321k")).toEqual([]);
  });

  it("separates characters of scripts without spaces", () => {
    expect(spaced("ab 東京 c").split(/\s+/)).toEqual(["ab", "東", "京", "c"]);
  });

  it("cuts a snippet around the first term without splitting a surrogate pair", () => {
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

it("an echo is truncated to the budget and counts what is missing", () => {
  const answer = bounded(
    { names: Array.from({ length: 100 }, (_, index) => `name ${index}`), change_id: 7 },
    1_000,
  );
  expect(answer.change_id).toBe(7);
  expect(answer.names.length + (answer.not_shown ?? 0)).toBe(100);
  expect(JSON.stringify(answer).length).toBeLessThan(1_000);
  expect(bounded({ names: ["a"] }, 1_000)).toEqual({ names: ["a"] });
});
