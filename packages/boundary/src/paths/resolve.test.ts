import { describe, expect, it } from "vitest";
import { ToolError } from "../answer/errors.ts";
import type { Platform } from "./names.ts";
import { parsePath } from "./resolve.ts";

function parse(text: string, platform: Platform = "linux") {
  return parsePath(text, {
    platform,
    home: () => (platform === "win32" ? "C:\\Users\\me" : "/home/me"),
  });
}

function refused(text: string, platform: Platform = "linux"): ToolError {
  try {
    parse(text, platform);
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error(`Not refused: ${text}`);
}

describe("the text of a path", () => {
  it.each([
    ["/a/b", "/a/b"],
    ["/a//b/./c/", "/a/b/c"],
    ["/a/b/../../etc/passwd", "/etc/passwd"],
    ["/../../etc", "/etc"],
    ["~", "/home/me"],
    ["~/x", "/home/me/x"],
    ["~/../you", "/home/you"],
    ["/a/%2e%2e/b", "/a/%2e%2e/b"],
    ["/a/%00/b", "/a/%00/b"],
    ["/a/con/NUL.txt", "/a/con/NUL.txt"],
    ["/a/b:c. ", "/a/b:c. "],
    ["/a/b\\..\\c", "/a/b\\..\\c"],
  ])("%j is %j", (text, path) => {
    expect(parse(text)).toEqual({ path, absolute: true });
  });

  it.each(["a", "a/../../b", "~user/x", "./~", "C:\\x", "file:x", "%2Fetc"])(
    "%j is relative, as written",
    (text) => {
      expect(parse(text)).toEqual({ path: text, absolute: false });
    },
  );

  it.each([
    ["", /empty/],
    ["/a\0/b", /NUL/],
    ["/a/\ud800", /surrogate/],
  ])("%j is invalid", (text, message) => {
    expect(refused(text)).toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(message),
    });
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

describe("file URIs", () => {
  it.each([
    ["file:///a/b", "/a/b"],
    ["FILE:///a/b", "/a/b"],
    ["file://localhost/a", "/a"],
    ["file:///a%20b/%C3%A9", "/a b/é"],
    ["file:///a/%2e%2e/b", "/b"],
    ["file:///a%3Fb%23c", "/a?b#c"],
    ["file:///a%25b", "/a%b"],
  ])("%j is %j", (uri, path) => {
    expect(parse(uri)).toEqual({ path, absolute: true });
  });

  it.each([
    ["file://server/share", /host "server"/],
    ["file://etc/passwd", /host "etc"/],
    ["file:///a%00b", /NUL/],
    ["file:///a%2Fb", /percent-encoding/],
    ["file:///a%zz", /percent-encoding/],
    ["file:///a%ff", /percent-encoding/],
    ["file:///a?b", /query/],
    ["file:///a#b", /fragment/],
    ["file:///a b", /whitespace/],
    ["file:///a\nb", /whitespace/],
    ["file://[", /parsed/],
  ])("%j is invalid", (uri, message) => {
    expect(refused(uri)).toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(message),
    });
  });

  it("has drives on Windows and no shares", () => {
    expect(parse("file:///C:/a%20b", "win32")).toEqual({ path: "C:\\a b", absolute: true });
    expect(parse("file:///c%3A/a", "win32")).toEqual({ path: "c:\\a", absolute: true });
    expect(refused("file://server/share/x", "win32").message).toContain("host");
    expect(refused("file:////server/share/x", "win32").kind).toBe("invalid");
    expect(refused("file:///a", "win32").kind).toBe("invalid");
  });
});

describe("Windows", () => {
  it.each([
    ["C:\\a\\b", "C:\\a\\b"],
    ["c:/a/../b", "c:\\b"],
    ["/c/Users/me", "C:\\Users\\me"],
    ["/d", "D:\\"],
    ["~\\x", "C:\\Users\\me\\x"],
    ["\\\\server\\share\\x", "\\\\server\\share\\x"],
    ["//server/share/x/..", "\\\\server\\share\\"],
    ["C:\\a\\console.log\\nullable", "C:\\a\\console.log\\nullable"],
    ["C:\\a\\.gitignore", "C:\\a\\.gitignore"],
  ])("%j is %j", (text, path) => {
    expect(parse(text, "win32")).toEqual({ path, absolute: true });
  });

  it.each(["a\\b", "a/b", "..\\x", "."])("%j is relative", (text) => {
    expect(parse(text, "win32").absolute).toBe(false);
  });

  it.each([
    ["\\\\?\\C:\\a", /device path/],
    ["\\\\?\\UNC\\server\\share", /device path/],
    ["\\\\.\\PhysicalDrive0", /device path/],
    ["//?/C:/a", /device path/],
    ["//./pipe/x", /device path/],
    ["\\??\\C:\\a", /device path/],
    ["C:a", /relative to a drive's current directory/],
    ["C:", /relative to a drive's current directory/],
    ["C:..\\x", /relative to a drive's current directory/],
    ["\\Windows", /no drive/],
    ["/etc/passwd", /no drive/],
    ["C:\\a\\CON", /reserved/],
    ["C:\\a\\nul.txt", /reserved/],
    ["C:\\a\\NUL .txt", /reserved/],
    ["C:\\aux\\b", /reserved/],
    ["com1", /reserved/],
    ["LPT9.log", /reserved/],
    ["COM²", /reserved/],
    ["CONIN$", /reserved/],
    ["C:\\a\\b.", /dot or a space/],
    ["C:\\a \\b", /dot or a space/],
    ["C:\\a\\...\\b", /dot or a space/],
    ["C:\\a\\.. \\b", /dot or a space/],
    ["C:\\a\\file.txt:stream", /alternate data stream/],
    ["file.txt::$DATA", /alternate data stream/],
    ["C:\\a\\b?", /character/],
    ["C:\\a\\b*\\c", /character/],
    ["C:\\a\\\u0001", /character/],
    ["file:///C:/a/nul", /reserved/],
    ["file:///C:/a/b%3Astream", /alternate data stream/],
  ])("%j is invalid", (text, message) => {
    expect(refused(text, "win32")).toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(message),
    });
  });
});
