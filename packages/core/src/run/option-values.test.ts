import { describe, expect, it } from "vitest";
import { defineOptions, type Option } from "../define/options.ts";

import { items, separator } from "./options.ts";
import { type Invocation, parseOptions, shown } from "./parse-options.ts";

const description = "D.";

describe("separator", () => {
  it.each<[Option, NodeJS.Platform, string[], string]>([
    [{ type: "directory", list: true, description }, "linux", ["/a b", "/c,d"], "/a b:/c,d"],
    [{ type: "file", list: true, description }, "win32", ["C:\\a", "D:\\b"], "C:\\a;D:\\b"],
    [{ type: "enum", list: true, values: ["a", "b"], description }, "linux", ["a", "b"], "a,b"],
    [{ type: "integer", list: true, description }, "linux", ["1", "2"], "1,2"],
    [{ type: "string", list: true, description }, "linux", ["x", "y z"], "x,y z"],
    [
      { type: "string", list: true, commas: false, description },
      "linux",
      ["{a,b}", "c"],
      "{a,b}\nc",
    ],
    [
      { type: "url", list: true, description },
      "linux",
      ["https://a/,b", "https://c/"],
      "https://a/,b\nhttps://c/",
    ],
    [{ type: "secret", named: "unique", description }, "linux", ["a=1,2", "b=3"], "a=1,2\nb=3"],
    [
      { type: "directory", named: "unique", description },
      "linux",
      ["a=/x:y", "b=/z"],
      "a=/x:y\nb=/z",
    ],
  ])("are inverse: %j on %s", (option, platform, list, text) => {
    const between = separator(option, platform);
    expect(list.join(between)).toBe(text);
    expect(items(text, between)).toEqual(list);
  });
});

describe("shown", () => {
  it.each([
    ["plain", '"plain"'],
    ["a\nb\u0007", '"a\\nb\\u0007"'],
    ["postgres://me:secret@h/d", '"postgres://…@h/d"'],
    ["postgres://me:sec/re@t@h/d", '"postgres://…@h/d"'],
    ["me:secret@h", '"…@h"'],
    ["/srv/@scope/pkg", '"/srv/@scope/pkg"'],
    ["x".repeat(201), `"${"x".repeat(200)}…"`],
  ])("%j", (text, expected) => {
    expect(shown(text)).toBe(expected);
  });
});

const table = defineOptions({
  directories: { type: "directory", list: true, positional: true, flag: "root", description },
});
const place = { cwd: "/home/me/work", home: "/home/me", platform: "linux" } as const;

function directories(
  argv: readonly string[],
  where: Partial<Invocation> = place,
): readonly string[] {
  const parsed = parseOptions("filesystem", table, { ...where, argv, env: {} });
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.values.directories;
}

describe("paths", () => {
  it.each([
    ["~", "/home/me"],
    ["~/x/../y", "/home/me/y"],
    [".", "/home/me/work"],
    ["../other/", "/home/me/other"],
    ["/abs//x/", "/abs/x"],
    ["a,b", "/home/me/work/a,b"],
    ["a b:c", "/home/me/work/a b:c"],
    ["./~odd", "/home/me/work/~odd"],
    ["file:///srv/a%20b", "/srv/a b"],
    ["FILE:///srv", "/srv"],
    ["100%41", "/home/me/work/100%41"],
  ])("%s", (text, expected) => {
    expect(directories([text])).toEqual([expected]);
  });

  it.each([
    ["~", "C:\\Users\\me"],
    ["~\\x", "C:\\Users\\me\\x"],
    ["~/x", "C:\\Users\\me\\x"],
    ["sub", "D:\\work\\sub"],
    ["C:/a/b", "C:\\a\\b"],
    ["\\\\nas\\share\\x", "\\\\nas\\share\\x"],
    ["file:///C:/a%20b", "C:\\a b"],
  ])("%s on Windows", (text, expected) => {
    const windows = { cwd: "D:\\work", home: "C:\\Users\\me", platform: "win32" } as const;
    expect(directories([text], windows)).toEqual([expected]);
  });

  it("need not exist, and duplicates count once", () => {
    expect(directories(["/does/not/exist", "/does/not/exist/"])).toEqual(["/does/not/exist"]);
  });

  it("are relative to the process's directory and home by default", () => {
    const [here, home] = directories([".", "~"], {});
    expect(here).toBe(process.cwd());
    expect(home?.startsWith("~")).toBe(false);
  });

  it.each([
    [
      "~bob/x",
      'Option --root is "~bob/x"; it takes a path, a file URI on this machine, or ~ for your own home directory (a name that starts with ~ is written ./~name).',
    ],
    ["a\0b", 'Option --root is "a\\u0000b"; it takes a path without NUL bytes.'],
    [
      "file://server/x",
      'Option --root is "file://server/x"; it takes a path, a file URI on this machine, or ~ for your own home directory (a name that starts with ~ is written ./~name).',
    ],
    ["", "Option --root needs a value, but is empty."],
    [
      `\${workspaceFolder}/x`,
      `Option --root is the placeholder "\${workspaceFolder}/x", which the host should have replaced with a value.`,
    ],
  ])("refuses %j", (text, expected) => {
    expect(() => directories([text])).toThrow(new Error(expected));
  });
});
