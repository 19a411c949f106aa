import { describe, expect, it } from "vitest";
import { suggestion } from "./suggestion.ts";

describe("suggestion", () => {
  it.each([
    ["max-answer", " Did you mean --max-answer-chars?"],
    ["red-only", " Did you mean --read-only?"],
    ["rot", " Did you mean --root?"],
    ["re", ""],
    ["max", " Did you mean --max-answer-chars?"],
    ["something-else-altogether", ""],
  ])("%s", (word, expected) => {
    expect(suggestion(word, ["root", "read-only", "max-answer-chars"], "--")).toBe(expected);
  });

  it("names up to three that begin with the word", () => {
    expect(suggestion("max", ["max-a", "max-b", "min"], "--")).toBe(" Did you mean --max-a or --max-b?");
    expect(suggestion("max", ["max-a", "max-b", "max-c"])).toBe(" Did you mean max-a, max-b or max-c?");
    expect(suggestion("max", ["max-a", "max-b", "max-c", "max-d"])).toBe(" Did you mean max-a?");
  });
});
