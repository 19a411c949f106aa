import { ToolError } from "@refmcp/boundary/answer";
import { describe, expect, it } from "vitest";
import { compileExclusion, compileGlob } from "./glob.ts";

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

function matching(glob: string, paths: readonly string[]): string[] {
  const compiled = compileGlob(glob);
  return paths.filter((path) =>
    compiled.matches(path.replace(/\/$/, ""), nameOf(path.replace(/\/$/, "")), path.endsWith("/")),
  );
}

/** What `compileGlob` throws, if anything. */
function refusalOf(glob: string): unknown {
  try {
    compileGlob(glob);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("compileGlob", () => {
  const cases: [glob: string, yes: string[], no: string[]][] = [
    ["*.ts", ["a.ts", "src/a.ts", ".hidden.ts"], ["a.tsx", "a.ts/x"]],
    ["src/*.ts", ["src/a.ts"], ["src/b/a.ts", "x/src/a.ts"]],
    ["**/*.ts", ["a.ts", "src/b/a.ts"], ["a.js"]],
    ["src/**", ["src/a", "src/a/b"], ["src", "srcs/a"]],
    ["**", ["a", "a/b"], []],
    ["a**b", ["ab", "axxb"], ["b"]],
    ["src/a**b", ["src/axb"], ["src/a/b"]],
    ["?.md", ["a.md", "ä.md"], ["ab.md", ".md"]],
    ["cafe\u0301.*", ["caf\u00e9.md"], ["cafe.md"]],
    ["caf?.md", ["cafe\u0301.md"], []],
    ["[a-c].md", ["b.md"], ["d.md"]],
    ["[!a-c].md", ["d.md"], ["a.md"]],
    ["a[]]b", ["a]b"], ["ab"]],
    ["src[/]a", [], ["src/a"]],
    ["*.{ts,tsx}", ["a.ts", "a.tsx"], ["a.js", "a.{ts,tsx}"]],
    ["{src,test/unit}/*.ts", ["src/a.ts", "test/unit/a.ts"], ["test/a.ts"]],
    ["{a,{b,c}d}", ["a", "bd", "cd"], ["b", "d"]],
    ["{a", ["{a"], ["a"]],
    ["{**/a,b}/c", ["x/y/a/c", "a/c", "b/c"], ["x/b/c"]],
    ["a\\*b", ["a*b"], ["axb"]],
    ["\\!x", ["!x"], ["x"]],
    ["./src/a", ["src/a"], ["x/src/a"]],
    ["build/", ["build/", "x/build/"], ["build"]],
    ["*", ["a", "a/b", "with\nnewline"], []],
    ["[😀-😂]", ["😁"], ["😎"]],
  ];
  it.each(cases)("%s", async (glob, yes, no) => {
    expect(matching(glob, [...yes, ...no])).toEqual(yes);
  });

  it.each([
    ["!a", "exclamation mark"],
    ["", "empty"],
    ["/", "empty"],
    ["[z-a]", "is reversed"],
    ["a\\", "backslash"],
    ["f{1..3}", "write {1,2,3}"],
    ["@(a|b).ts", "write {a,b}"],
    ["x".repeat(1001), "1001 characters"],
    ["*a*a*a*a*a*b", "too many stars"],
    ["{a,b}".repeat(7), "too many alternatives"],
  ])("refuses %j: %s", async (glob, reason) => {
    const error = refusalOf(glob);
    expect(error).toBeInstanceOf(ToolError);
    expect(error).toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(reason),
      hint: expect.any(String),
    });
  });

  it("reads paths of a hundred thousand characters", async () => {
    const glob = compileGlob("**/x/**/y/*.ts");
    expect(glob.matches(`${"a/".repeat(50_000)}x/y/z.ts`, "z.ts", false)).toBe(true);
  });
});

describe("compileExclusion", () => {
  it("excludes names at any depth, paths, and the contents of a directory", async () => {
    const { hides, hidesContents } = compileExclusion([
      "node_modules",
      "docs/*.md",
      "vendor/**",
      "**/gen/**",
    ]);
    expect(hides("a/node_modules", "node_modules", true)).toBe(true);
    expect(hides("docs/a.md", "a.md", false)).toBe(true);
    expect(hides("a/docs/a.md", "a.md", false)).toBe(false);
    expect(hides("vendor", "vendor", true)).toBe(false);
    expect(hides("vendor/a", "a", false)).toBe(true);
    expect(["vendor", "a/vendor", "gen", "a/gen"].map(hidesContents)).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it("refuses more than 100 globs", async () => {
    expect(() => compileExclusion(Array.from({ length: 101 }, () => "a"))).toThrow(
      expect.objectContaining({ kind: "invalid" }),
    );
  });
});

describe("bombs", () => {
  const bombs = [
    `${"*a".repeat(400)}b`,
    `${"**/a/".repeat(150)}b`,
    `${"+(".repeat(300)}a${")".repeat(300)}b`,
    `${"{a,".repeat(300)}a${"}".repeat(300)}`,
    "{".repeat(1000),
    "[".repeat(1000),
    "\\".repeat(999),
    "*".repeat(40).split("").join("a"),
  ];
  it.each(bombs)("%.20s… is refused or matched", async (bomb) => {
    const refusal = refusalOf(bomb);
    if (refusal !== undefined) return expect(refusal).toMatchObject({ kind: "invalid" });
    const glob = compileGlob(bomb);
    for (const path of ["a".repeat(255), `${"a/".repeat(2000)}a`, "{".repeat(255)])
      glob.matches(path, path, false);
  });
});
