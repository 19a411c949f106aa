import { describe, expect, it } from "vitest";
import { editText } from "./edit-text.ts";

describe("editText", () => {
  it("refuses a text that an earlier edit made ambiguous", () => {
    const edits = [
      { oldText: "first line", newText: "second line" },
      { oldText: "second line", newText: "third" },
    ];
    expect(() =>
      editText("f", `first line\n${"-".repeat(100)}\nsecond line\n`, edits, { replace_all: false }),
    ).toThrow("occurs 2 times");
  });

  it("changes only what differs, with any line endings", () => {
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
});
