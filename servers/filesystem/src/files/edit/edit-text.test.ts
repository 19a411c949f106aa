import { describe, expect, it } from "vitest";
import { diffTexts } from "./diff.ts";
import { editText } from "./edit-text.ts";

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

  it("changes only what differs, whatever the line endings", () => {
    const edit = (text: string, oldText: string, newText: string) =>
      editText("f", text, [{ oldText, newText }], { replace_all: false }).text;
    expect(edit("a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc")).toBe("a\r\nB\nc\r\n");
    expect(edit("a\r\nb\r\n", "b", "b\nc")).toBe("a\r\nb\r\nc\r\n");
    expect(edit("a\rb\r", "a\nb", "a\nx\nb")).toBe("a\rx\rb\r");
    expect(edit("a\nb", "a\r\nb", "b\r\na")).toBe("b\na");
  });

  it("matches expressions across lines", () => {
    const edit = (text: string, oldText: string, newText: string) =>
      editText("f", text, [{ oldText, newText }], { replace_all: true, regex: true }).text;
    expect(edit("a(\r\n  1,\r\n);\r\n", "\\(\\n\\s*(\\d),\\n\\)", "($1)")).toBe("a(1);\r\n");
    expect(edit("x\r\ny\r\n", "^", "> ")).toBe("> x\r\n> y\r\n");
    expect(edit("x  \ny \n", " +$", "")).toBe("x\ny\n");
  });

  it("replaces a million places in one line of 8 MB", () => {
    const text = "needle, ".repeat(1_000_000);
    const edits = [{ oldText: "needle", newText: "pin" }];
    const { text: edited, replacements } = editText("f", text, edits, { replace_all: true });
    expect(replacements).toBe(1_000_000);
    expect(edited).toBe("pin, ".repeat(1_000_000));
    const names = { oldName: "f", newName: "f" };
    const diff = diffTexts({ ...names, before: text, after: edited, maxChars: 10_000 });
    expect(diff).toMatchObject({ added: 1, removed: 1, hiddenHunks: 0 });
    expect(diff.text.length).toBeLessThan(10_000);
  });
});
