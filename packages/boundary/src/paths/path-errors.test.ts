import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { ToolError } from "../answer/errors.ts";
import { errorCode, isMissing, listed, quote, systemError } from "./path-errors.ts";

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: internal words, /proc/self/fd/9`), { code });
}

describe("systemError", () => {
  it.each([
    ["ENOENT", "not_found"],
    ["ENOTDIR", "invalid"],
    ["EISDIR", "invalid"],
    ["EEXIST", "conflict"],
    ["ENOTEMPTY", "conflict"],
    ["EACCES", "denied"],
    ["EPERM", "denied"],
    ["EROFS", "denied"],
    ["ELOOP", "invalid"],
    ["ENAMETOOLONG", "invalid"],
    ["EINVAL", "invalid"],
    ["ENOSPC", "unavailable"],
    ["EDQUOT", "unavailable"],
    ["EFBIG", "too_large"],
    ["EMFILE", "unavailable"],
    ["EBUSY", "conflict"],
    ["EIO", "unavailable"],
  ])("%s is %s, with the path, a hint and none of the system's words", (code, kind) => {
    const error = systemError(failure(code), "/a\n/b");
    if (!(error instanceof ToolError)) throw new Error("Not a ToolError.");
    expect(error).toMatchObject({
      kind,
      code: code.toLowerCase(),
      hint: expect.stringMatching(/\.$/),
    });
    expect(error.message).toContain('"/a\\n/b"');
    expect(error.message).not.toContain("/proc");
    expect(error.cause).toBeInstanceOf(Error);
  });

  it("returns other errors unchanged", () => {
    for (const error of [
      new ToolError("denied", "No."),
      new TypeError("x"),
      failure("ERR_INVALID_ARG_TYPE"),
      "text",
    ]) {
      expect(systemError(error, "/a")).toBe(error);
    }
  });

  it("reads the code of real errors", async () => {
    const error: unknown = await readFile("/no/such/file").catch((caught: unknown) => caught);
    expect(errorCode(error)).toBe("ENOENT");
    expect(isMissing(error)).toBe(true);
    expect(errorCode(new Error("plain"))).toBeUndefined();
    expect(errorCode({ code: "ENOENT" })).toBeUndefined();
  });
});

describe("quote", () => {
  it("keeps a name on one line and truncates it", () => {
    expect(quote("/a b/é")).toBe('"/a b/é"');
    expect(quote("a\nError: forged")).toBe('"a\\nError: forged"');
    expect(quote("x".repeat(10_000))).toBe(`"${"x".repeat(300)}…"`);
  });
});

describe("listed", () => {
  it("limits an enumeration", () => {
    expect(listed([])).toBe("");
    expect(listed(["a"])).toBe("a");
    expect(listed(["a", "b"])).toBe("a and b");
    expect(listed(["a", "b", "c"])).toBe("a, b and c");
    expect(listed(["a", "b", "c", "d"], 2)).toBe("a, b and 2 more");
  });
});
