import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { leftWidth, shellWord, twoColumns, usableColumns, wrap } from "./text-layout.ts";

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
    ).toEqual([
      "  -a  first thing to say",
      "      here",
      "  --much-too-long",
      "      second",
      "  -b",
    ]);
  });
});

const AWKWARD = [
  "",
  "plain",
  "C:\\Users\\me\\new",
  `say "hi"`,
  "it's",
  "a b\tc",
  "line\nbreak\r\n",
  "\u0000\u0001\u001f\u007f\u0085",
  "naïve – 文件 😀",
  "#{[=]}",
  "'''",
  `"""`,
  "$HOME `id` \\",
];

describe("shellWord", () => {
  it("quotes only what needs it", () => {
    expect(shellWord("--root=/a/b")).toBe("--root=/a/b");
    expect(shellWord("~/x")).toBe("'~/x'");
    expect(shellWord("")).toBe("''");
  });

  const printable = AWKWARD.filter((text) => !text.includes("\0"));
  it.each(printable)("passes through a shell unchanged: %j", (text) => {
    const command = `printf '%s\\0' ${shellWord(text)}`;
    expect(execFileSync("sh", ["-c", command], { encoding: "utf8" })).toBe(`${text}\0`);
  });
});
