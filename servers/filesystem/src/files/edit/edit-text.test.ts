import { describe, expect, it } from "vitest";
import type { Region } from "./changed-ranges.ts";
import { unifiedDiff } from "./diff.ts";
import { type Edit, editInSequence, editText, editTogether } from "./edit-text.ts";

describe("editTogether", () => {
  it("returns the same as sequential editing whenever it returns a result", () => {
    let answered = 0;
    let state = 7;
    const next = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state % below;
    };
    const word = (length: number) => Array.from({ length }, () => "ab\n"[next(3)]).join("");
    for (let round = 0; round < 6_000; round++) {
      const text = word(20 + next(60));
      const edits: Edit[] = Array.from({ length: 2 + next(2) }, () => {
        const start = next(text.length - 8);
        return { oldText: text.slice(start, start + 4 + next(4)), newText: word(next(8)) };
      });
      const together = editTogether(text, edits);
      if (together === undefined) continue;
      answered += 1;
      expect(together).toEqual(editInSequence("f", text, edits, { replace_all: false }));
    }
    expect(answered).toBeGreaterThan(100);
  });
});

describe("editText", () => {
  it("applies an edit to the result of the previous ones", () => {
    const edits = [
      { oldText: "a", newText: "b" },
      { oldText: "b\nx", newText: "done" },
    ];
    expect(editText("f", "a\nx\n", edits, { replace_all: false }).text).toBe("done\n");
    expect(
      editText(
        "f",
        "x x\ny",
        [
          { oldText: "x x", newText: "x" },
          { oldText: "x", newText: "z" },
        ],
        { replace_all: false },
      ).text,
    ).toBe("z\ny");
  });

  it("refuses a text that an earlier edit made ambiguous", () => {
    const edits = [
      { oldText: "first line", newText: "second line" },
      { oldText: "second line", newText: "third" },
    ];
    expect(() =>
      editText("f", `first line\n${"-".repeat(100)}\nsecond line\n`, edits, { replace_all: false }),
    ).toThrow("occurs 2 times");
  });

  it("treats overlapping matches as ambiguous", () => {
    expect(() =>
      editText("f", "aaa", [{ oldText: "aa", newText: "b" }], { replace_all: false }),
    ).toThrow("occurs 2 times");
    expect(
      editText("f", "aaa", [{ oldText: "aa", newText: "b" }], { replace_all: true }).text,
    ).toBe("ba");
  });

  it("lists ten lines and only counts the rest", () => {
    expect(() =>
      editText("f", "x\n".repeat(15), [{ oldText: "x", newText: "y" }], { replace_all: false }),
    ).toThrow("at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 5 more");
  });

  it("replaces every occurrence of a single text as editing in sequence does", () => {
    let state = 5;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const word = (length: number) => Array.from({ length }, () => "ab\n"[next(3)]).join("");
    for (let round = 0; round < 500; round++) {
      const text = word(next(80));
      const edits: Edit[] = [{ oldText: word(1 + next(3)), newText: word(next(4)) }];
      const options = { replace_all: true, skipMissing: true };
      const once = editText("f", text, edits, options);
      const inSequence = editInSequence("f", text, edits, options);
      expect({ ...once, regions: [] }).toEqual({ ...inSequence, regions: [] });
      const diff = (regions: Iterable<Region>) =>
        unifiedDiff("f", text, once.text, regions, 100_000);
      expect(diff(once.regions)).toEqual(diff(inSequence.regions));
    }
  });

  it("replaces a million places in one line of 8 MB", () => {
    const text = "needle, ".repeat(1_000_000);
    const edits = [{ oldText: "needle", newText: "pin" }];
    const {
      text: edited,
      regions,
      replacements,
    } = editText("f", text, edits, { replace_all: true });
    expect(replacements).toBe(1_000_000);
    expect(edited).toBe("pin, ".repeat(1_000_000));
    const diff = unifiedDiff("f", text, edited, regions, 10_000);
    expect(diff).toMatchObject({ added: 1, removed: 1, hiddenHunks: 0 });
    expect(diff.text.length).toBeLessThan(10_000);
  });
});
