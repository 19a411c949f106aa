import { describe, expect, it } from "vitest";
import { ToolError } from "../answer/errors.ts";
import {
  fold,
  isFileSystemRoot,
  isInside,
  mayBeInside,
  type Platform,
  parsePath,
} from "./names.ts";
import { errorCode, joinNames, quote, systemError } from "./path-errors.ts";
import { whileHeld } from "./while-held.ts";

function parse(text: string, platform: Platform = "linux") {
  const home = () => (platform === "win32" ? "C:\\Users\\me" : "/home/me");
  return parsePath(text, { platform, home });
}

function refused(text: string, platform: Platform = "linux"): ToolError {
  try {
    parse(text, platform);
  } catch (error) {
    if (error instanceof ToolError && error.kind === "invalid") return error;
    throw error;
  }
  throw new Error(`Not refused: ${text}`);
}

describe("the text of a path", () => {
  it.each([
    ["/a/b", "/a/b"],
    ["/a/b/../../etc/passwd", "/etc/passwd"],
    ["/../../etc", "/etc"],
    ["~", "/home/me"],
    ["/a/b:c. ", "/a/b:c. "],
    ["file://localhost/a", "/a"],
    ["file:///a%20b/%C3%A9", "/a b/é"],
    ["file:///a/%2e%2e/b", "/b"],
    ["file:///a%3Fb%23c", "/a?b#c"],
  ])("%j is %j", (text, path) => {
    expect(parse(text)).toEqual({ path, absolute: true });
  });

  it("is left unchanged if it is relative", () => {
    for (const text of ["a", "a/../../b", "~user/x", "./~", "C:\\x", "file:x", "%2Fetc"])
      expect(parse(text)).toEqual({ path: text, absolute: false });
  });

  it.each([
    ["", /empty/],
    ["/a\0/b", /NUL/],
    ["/a/\ud800", /surrogate/],
    ["file://server/share", /host/],
    ["file:///a%00b", /NUL/],
    ["file:///a%ff", /percent-encoding/],
    ["file:///a?b#c", /query or a fragment/],
    ["file://[", /host/],
  ])("%j is invalid", (text, message) => {
    expect(refused(text).message).toMatch(message);
  });

  it("shows control characters of a refused path as escapes, on one line", () => {
    expect(refused("/a\n/b\0\u202e").message).toContain('"/a\\n/b\\u{0}\\u{202e}"');
  });

  it("limits a name to 255 bytes and a path to 4096", () => {
    expect(parse(`/${"a".repeat(255)}`).absolute).toBe(true);
    expect(refused(`/${"a".repeat(256)}`).message).toContain("256 bytes");
    expect(refused(`/${"é".repeat(128)}`).message).toContain("256 bytes");
    expect(parse(`/${"é".repeat(128)}`, "darwin").absolute).toBe(true);
    expect(refused("/a".repeat(2049)).message).toContain("4098 bytes");
    expect(refused("/a".repeat(2049)).message.length).toBeLessThan(500);
  });
});

describe("the text of a path on Windows", () => {
  it.each([
    ["c:/a/../b", "c:\\b"],
    ["/c/Users/me", "c:\\Users\\me"],
    ["/d", "d:\\"],
    ["~\\x", "C:\\Users\\me\\x"],
    ["\\\\server\\share\\x", "\\\\server\\share\\x"],
    ["//server/share/x/..", "\\\\server\\share\\"],
    ["C:\\a\\console.log\\nullable", "C:\\a\\console.log\\nullable"],
    ["C:\\a\\.gitignore", "C:\\a\\.gitignore"],
    ["file:///C:/a%20b", "C:\\a b"],
    ["file:///c%3A/a", "c:\\a"],
  ])("%j is %j", (text, path) => {
    expect(parse(text, "win32")).toEqual({ path, absolute: true });
  });

  it("may be relative", () => {
    for (const text of ["a\\b", "a/b", "..\\x", "."])
      expect(parse(text, "win32").absolute).toBe(false);
  });

  it.each([
    [/device path/, ["\\\\?\\C:\\a", "\\\\?\\UNC\\server\\share", "\\\\.\\PhysicalDrive0"]],
    [/device path/, ["//?/C:/a", "//./pipe/x", "\\??\\C:\\a"]],
    [/relative to a drive's current directory/, ["C:a", "C:", "C:..\\x"]],
    [/no drive/, ["\\Windows", "/etc/passwd"]],
    [/reserved/, ["C:\\a\\CON", "C:\\a\\nul.txt", "C:\\a\\NUL .txt", "C:\\aux\\b", "com1"]],
    [/reserved/, ["LPT9.log", "COM²", "CONIN$", "file:///C:/a/nul"]],
    [/dot or a space/, ["C:\\a\\b.", "C:\\a \\b", "C:\\a\\...\\b", "C:\\a\\.. \\b"]],
    [/alternate data stream/, ["C:\\a\\file.txt:stream", "file.txt::$DATA"]],
    [/alternate data stream/, ["file:///C:/a/b%3Astream"]],
    [/character/, ["C:\\a\\b?", "C:\\a\\b*\\c", "C:\\a\\\u0001"]],
    [/URI|drive/, ["file://server/share/x", "file:////server/share/x", "file:///a"]],
  ])("is invalid: %s %j", (message, texts) => {
    for (const text of texts) expect(refused(text, "win32").message, text).toMatch(message);
  });
});

describe("names", () => {
  it.each([
    ["/a/proj/x", "/a/proj", true],
    ["/a/proj-evil/x", "/a/proj", false],
    ["/a", "/a/proj", false],
    ["/x", "/", true],
    ["/a/PROJ/x", "/a/proj", false],
  ])("%j in %j: %s (CVE-2025-53110)", (target, directory, expected) => {
    expect(isInside(target, directory, "linux")).toBe(expected);
  });

  it("are compared with Windows separators, and may differ in case and Unicode form", () => {
    expect(isInside("C:\\a\\b", "C:\\a", "win32")).toBe(true);
    expect(isInside("C:\\ab", "C:\\a", "win32")).toBe(false);
    expect(isInside("C:\\a", "C:\\", "win32")).toBe(true);
    expect(isInside("\\\\server\\share\\x", "\\\\server\\share\\", "win32")).toBe(true);
    expect(mayBeInside("/A/Proj/x", "/a/proj", "darwin")).toBe(true);
    expect(mayBeInside("/a/cafe\u0301/x", "/a/café", "darwin")).toBe(true);
    expect(mayBeInside("C:\\A\\x", "c:\\a", "win32")).toBe(true);
    expect(mayBeInside("/A/Proj-evil/x", "/a/proj", "darwin")).toBe(false);
    expect(fold("CAFE\u0301")).toBe(fold("café"));
  });

  it("of the root of a file system are known", () => {
    for (const path of ["C:\\", "\\\\server\\share\\"])
      expect(isFileSystemRoot(path, "win32")).toBe(true);
    expect(isFileSystemRoot("/", "linux")).toBe(true);
    expect(isFileSystemRoot("/a", "linux")).toBe(false);
    expect(isFileSystemRoot("C:\\a", "win32")).toBe(false);
  });
});

const failure = (code: string) =>
  Object.assign(new Error(`${code}: internal words, /proc/self/fd/9`), { code });

describe("an error of the operating system", () => {
  it.each([
    ["not_found", ["ENOENT"]],
    ["invalid", ["ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG", "EINVAL"]],
    ["conflict", ["EEXIST", "ENOTEMPTY", "EBUSY"]],
    ["denied", ["EACCES", "EPERM", "EROFS"]],
    ["unavailable", ["ENOSPC", "EDQUOT", "EMFILE", "EIO"]],
    ["too_large", ["EFBIG"]],
  ])("is %s, with the path, a hint and none of the system's words: %j", (kind, codes) => {
    for (const code of codes) {
      const error = systemError(failure(code), "/a\n/b");
      if (!(error instanceof ToolError)) throw new Error("Not a ToolError.");
      expect(error, code).toMatchObject({ kind, hint: expect.stringMatching(/\.$/) });
      expect(error.message).toContain('"/a\\n/b"');
      expect(error.message).not.toContain("/proc");
      expect(error.cause).toBeInstanceOf(Error);
    }
  });

  it("is the only error that is changed", () => {
    const others = [new ToolError("denied", "No."), new TypeError("x"), "text"];
    for (const error of [...others, failure("ERR_INVALID_ARG_TYPE")])
      expect(systemError(error, "/a")).toBe(error);
    expect(errorCode(failure("ENOENT"))).toBe("ENOENT");
    for (const error of [new Error("plain"), { code: "ENOENT" }])
      expect(errorCode(error)).toBeUndefined();
  });

  it("quotes a name on one line, truncated, and limits an enumeration", () => {
    expect(quote("/a b/é")).toBe('"/a b/é"');
    expect(quote("a\nError: forged")).toBe('"a\\nError: forged"');
    expect(quote("x".repeat(10_000))).toBe(`"${"x".repeat(300)}…"`);
    expect([[], ["a"], ["a", "b"]].map((names) => joinNames(names))).toEqual(["", "a", "a and b"]);
    expect(joinNames(["a", "b", "c"])).toBe("a, b and c");
    expect(joinNames(["a", "b", "c", "d"], 2)).toBe("a, b and 2 more");
  });
});

describe("a name that another program has open", () => {
  it.each([
    ["win32", "EPERM", 2, "done", 3],
    ["win32", "EPERM", 99, "held", 8],
    ["win32", "ENOENT", 1, "ENOENT", 1],
    ["linux", "EPERM", 1, "EPERM", 1],
    ["darwin", "EPERM", 1, "EPERM", 1],
  ] as const)(
    "is waited for only on Windows: %s, %s",
    async (platform, code, times, ends, calls) => {
      let called = 0;
      const work = () => {
        called += 1;
        if (called <= times) throw failure(code);
        return "done";
      };
      const result = await whileHeld("a.txt", work, platform).catch((error: unknown) =>
        error instanceof ToolError ? error.code : errorCode(error),
      );
      expect([result, called]).toEqual([ends, calls]);
    },
  );
});
