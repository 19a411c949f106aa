import { describe, expect, it } from "vitest";
import { fold, isFileSystemRoot, isInside, mayBeInside } from "./names.ts";

describe("isInside", () => {
  it.each([
    ["/a/proj", "/a/proj", true],
    ["/a/proj/x", "/a/proj", true],
    ["/a/proj-evil", "/a/proj", false],
    ["/a/proj-evil/x", "/a/proj", false],
    ["/a/pro", "/a/proj", false],
    ["/a", "/a/proj", false],
    ["/x", "/", true],
    ["/", "/", true],
    ["/a/PROJ/x", "/a/proj", false],
  ])("%j in %j: %s (CVE-2025-53110)", (target, directory, expected) => {
    expect(isInside(target, directory, "linux")).toBe(expected);
  });

  it("handles Windows separators", () => {
    expect(isInside("C:\\a\\b", "C:\\a", "win32")).toBe(true);
    expect(isInside("C:\\ab", "C:\\a", "win32")).toBe(false);
    expect(isInside("C:\\a", "C:\\", "win32")).toBe(true);
    expect(isInside("\\\\server\\share\\x", "\\\\server\\share\\", "win32")).toBe(true);
  });

  it("detects name variants, but not siblings", () => {
    expect(mayBeInside("/A/Proj/x", "/a/proj", "darwin")).toBe(true);
    expect(mayBeInside("/a/cafe\u0301/x", "/a/café", "darwin")).toBe(true);
    expect(mayBeInside("C:\\A\\x", "c:\\a", "win32")).toBe(true);
    expect(mayBeInside("/A/Proj-evil/x", "/a/proj", "darwin")).toBe(false);
    expect(fold("CAFE\u0301")).toBe(fold("café"));
  });

  it("handles the root of a file system", () => {
    expect(isFileSystemRoot("/", "linux")).toBe(true);
    expect(isFileSystemRoot("/a", "linux")).toBe(false);
    expect(isFileSystemRoot("C:\\", "win32")).toBe(true);
    expect(isFileSystemRoot("\\\\server\\share\\", "win32")).toBe(true);
    expect(isFileSystemRoot("C:\\a", "win32")).toBe(false);
  });
});
