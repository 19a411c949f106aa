import { describe, expect, it } from "vitest";
import { parseRange } from "./revisions.ts";

describe("parseRange", () => {
  it("reads two and three dots; an empty side is HEAD", () => {
    expect(parseRange("a..b")).toEqual({ from: "a", to: "b" });
    expect(parseRange("a...b")).toEqual({ from: "a", to: "b" });
    expect(parseRange("v1.0..v2.0")).toEqual({ from: "v1.0", to: "v2.0" });
    expect(parseRange("..b")).toEqual({ from: "HEAD", to: "b" });
    expect(parseRange("a..")).toEqual({ from: "a", to: "HEAD" });
    expect(parseRange("HEAD@{1..2}..x")).toEqual({
      from: "HEAD@{1..2}",
      to: "x",
    });
  });

  it("returns undefined for a single revision", () => {
    for (const text of ["main", "HEAD~2", "v1.0", "HEAD@{a..b}", "feature/x.y", "a....b"])
      expect(parseRange(text), text).toBeUndefined();
  });
});
