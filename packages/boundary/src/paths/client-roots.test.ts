import { describe, expect, it } from "vitest";
import { narrow, replace, withoutDuplicates } from "./directories.ts";
import type { AllowedDirectory } from "./types.ts";

function configured(path: string, writable = true): AllowedDirectory {
  return { path, realPath: path, source: "argument", writable };
}

function root(path: string): AllowedDirectory {
  return { path, realPath: path, source: "client root", writable: true };
}

/** `path` or `path:ro` of each. */
function shown(directories: readonly AllowedDirectory[]): string[] {
  return directories.map(({ path, writable }) => (writable ? path : `${path}:ro`));
}

describe("narrow", () => {
  const cases: [string, AllowedDirectory[], string[], string[], string[]][] = [
    ["a root inside replaces the directory", [configured("/a")], ["/a/x"], ["/a/x"], []],
    ["the same directory", [configured("/a")], ["/a"], ["/a"], []],
    ["a root around it leaves the directory unchanged", [configured("/a/b")], ["/a"], ["/a/b"], []],
    ["the whole disk does too", [configured("/a"), configured("/b")], ["/"], ["/a", "/b"], []],
    [
      "what no root covers is left out",
      [configured("/a"), configured("/b")],
      ["/b/x"],
      ["/b/x"],
      [],
    ],
    [
      "a sibling is outside",
      [configured("/a/proj")],
      ["/a/proj-evil", "/a/proj/x"],
      ["/a/proj/x"],
      ["/a/proj-evil"],
    ],
    ["all outside: nothing", [configured("/a")], ["/b", "/c"], [], ["/b", "/c"]],
    [
      "in the order of the roots",
      [configured("/a"), configured("/b")],
      ["/b/y", "/a/x"],
      ["/b/y", "/a/x"],
      [],
    ],
    ["once each", [configured("/a")], ["/a/x", "/a/x", "/a"], ["/a/x", "/a"], []],
    [
      "read-only stays so inside",
      [configured("/a"), configured("/a/v", false)],
      ["/a/v/x"],
      ["/a/v/x:ro"],
      [],
    ],
    [
      "read-only stays so around",
      [configured("/a"), configured("/a/v", false)],
      ["/a"],
      ["/a", "/a/v:ro"],
      [],
    ],
    [
      "and below a root",
      [configured("/a"), configured("/a/b/v", false)],
      ["/a/b"],
      ["/a/b", "/a/b/v:ro"],
      [],
    ],
    ["a configured whole disk can be narrowed", [configured("/")], ["/a"], ["/a"], []],
  ];
  it.each(cases)("%s", (_, directories, roots, expected, outside) => {
    const applied = narrow(directories, roots.map(root), "linux");
    expect(shown(applied.directories)).toEqual(expected);
    expect(applied.ignored.map(({ path }) => path)).toEqual(outside);
  });

  it("compares the targets of links, not their names", () => {
    const link = { ...root("/a/link"), realPath: "/etc" };
    expect(narrow([configured("/a")], [link], "linux")).toMatchObject({
      directories: [],
      ignored: [link],
    });
  });
});

describe("replace", () => {
  it.each([
    ["the roots count instead", [configured("/a")], ["/b"], ["/b"], []],
    ["a whole file system is refused", [configured("/a")], ["/", "/b"], ["/b"], ["/"]],
    ["unless one is configured", [configured("/")], ["/"], ["/"], []],
    ["nothing configured: the roots", [], ["/b", "/c"], ["/b", "/c"], []],
    ["nothing configured: no whole file system", [], ["/"], [], ["/"]],
    [
      "read-only stays so",
      [configured("/b/v", false)],
      ["/b", "/b/v/x"],
      ["/b", "/b/v:ro", "/b/v/x:ro"],
      [],
    ],
  ])("%s", (_, directories, roots, expected, whole) => {
    const applied = replace(directories, roots.map(root), "linux");
    expect(shown(applied.directories)).toEqual(expected);
    expect(applied.ignored.map(({ path }) => path)).toEqual(whole);
  });

  it("refuses a drive", () => {
    const drive = root("C:\\");
    expect(replace([configured("C:\\a")], [drive], "win32")).toMatchObject({
      directories: [],
      ignored: [drive],
    });
  });
});

describe("withoutDuplicates", () => {
  it("keeps the first of each, read-only if any is", () => {
    const twice = [configured("/a"), configured("/b"), configured("/a", false)];
    expect(shown(withoutDuplicates(twice))).toEqual(["/a:ro", "/b"]);
  });
});
