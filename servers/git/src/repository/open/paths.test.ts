import { describe, expect, it } from "vitest";
import { isQuoted, pathIn } from "./paths.ts";

const ROOT = process.platform === "win32" ? "C:\\work\\repo" : "/work/repo";

describe("pathIn", () => {
  it("accepts relative and absolute paths inside the root", () => {
    expect(pathIn(ROOT, "src/a.ts")).toBe("src/a.ts");
    expect(pathIn(ROOT, "./src//b/../a.ts")).toBe("src/a.ts");
    expect(pathIn(ROOT, `${ROOT}/src`)).toBe("src");
    expect(pathIn(ROOT, ".")).toBe(".");
    expect(pathIn(ROOT, ROOT)).toBe(".");
    expect(pathIn(ROOT, "..a/b")).toBe("..a/b");
  });

  it("never leaves the root or enters a git directory", () => {
    for (const path of [
      "..",
      "../..",
      "a/../../b",
      "/etc/passwd",
      `${ROOT}-evil/x`,
      ".git",
      ".git/config",
      "a/.GIT/hooks",
      "",
      "a\0b",
    ])
      expect(() => pathIn(ROOT, path), JSON.stringify(path)).toThrow();
  });
});

describe("isQuoted", () => {
  it("recognizes git's quoting of a name that is not UTF-8", () => {
    expect(isQuoted('"na\\357ve"')).toBe(true);
    expect(isQuoted('"quoted"')).toBe(false);
    expect(isQuoted("plain")).toBe(false);
  });
});
