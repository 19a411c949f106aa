import { describe, expect, it } from "vitest";
import { defineOptions } from "../define/options.ts";

import { type Invocation, parseOptions } from "./parse-options.ts";

const description = "D.";

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
    ["~/x/../y", "/home/me/y"],
    ["../other/", "/home/me/other"],
    ["/abs//x/", "/abs/x"],
    ["a,b", "/home/me/work/a,b"],
    ["./~odd", "/home/me/work/~odd"],
    ["file:///srv/a%20b", "/srv/a b"],
  ])("%s", (text, expected) => {
    expect(directories([text])).toEqual([expected]);
  });

  it.each([
    ["~/x", "C:\\Users\\me\\x"],
    ["sub", "D:\\work\\sub"],
    ["\\\\nas\\share\\x", "\\\\nas\\share\\x"],
    ["file:///C:/a%20b", "C:\\a b"],
  ])("%s on Windows", (text, expected) => {
    const windows = { cwd: "D:\\work", home: "C:\\Users\\me", platform: "win32" } as const;
    expect(directories([text], windows)).toEqual([expected]);
  });

  it.each([
    [
      "~bob/x",
      'Option --root is "~bob/x"; it takes a path, a file URI on this machine, or ~ for your own home directory (a name that starts with ~ is written ./~name).',
    ],
    ["a\0b", 'Option --root is "a\\u0000b"; it takes a path without NUL bytes.'],
    ["", "Option --root needs a value, but is empty."],
    [
      `\${workspaceFolder}/x`,
      `Option --root is the placeholder "\${workspaceFolder}/x", which the host should have replaced with a value.`,
    ],
  ])("refuses %j", (text, expected) => {
    expect(() => directories([text])).toThrow(new Error(expected));
  });
});
