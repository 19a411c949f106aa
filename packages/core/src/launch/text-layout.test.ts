import { describe, expect, it } from "vitest";
import { leftWidth, twoColumns, usableColumns, wrap } from "./text-layout.ts";

describe("wrap", () => {
  it.each([
    ["one two three", 7, ["one two", "three"]],
    ["one two", 80, ["one two"]],
    ["  spaces \n everywhere ", 80, ["spaces everywhere"]],
    ["a verylongword b", 5, ["a", "verylongword", "b"]],
    ["", 10, []],
  ])("%j in %d columns", (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });
});

describe("usableColumns", () => {
  it.each([
    [undefined, 80],
    [0, 80],
    [20, 40],
    [70, 70],
    [250, 100],
  ])("%s → %d", (columns, usable) => {
    expect(usableColumns(columns)).toBe(usable);
  });
});

describe("twoColumns", () => {
  it("aligns the right column, and puts a long left column on a separate line", () => {
    const rows = [
      ["-a", "first thing to say here"],
      ["--much-too-long", "second"],
      ["-b", ""],
    ] as const;
    expect(
      twoColumns(
        rows,
        leftWidth(
          rows.map(([left]) => left),
          6,
        ),
        28,
      ),
    ).toEqual(["  -a  first thing to say", "      here", "  --much-too-long", "      second", "  -b"]);
  });
});
