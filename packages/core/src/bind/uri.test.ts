import { describe, expect, it } from "vitest";
import { compileTemplate } from "./resource.ts";

describe("compileTemplate", () => {
  it("matches one segment for {x} and anything for {+x}, percent-decoded", () => {
    const blob = compileTemplate("git://{repo}/blob/{rev}/{+path}");
    expect(blob.match("git://my%20repo/blob/main/src/a%20b.ts")).toEqual({
      repo: "my repo",
      rev: "main",
      path: "src/a b.ts",
    });
    expect(blob.match("git://repo/tree/main/x")).toBeUndefined();
    expect(compileTemplate("memory://entity/{name}").match("memory://entity/a/b")).toBeUndefined();
    expect(compileTemplate("memory://entity/{name}").match("memory://entity/a%2Fb")).toEqual({
      name: "a/b",
    });
  });

  it("matches query parameters in any order, each optional", () => {
    const rows = compileTemplate("rows://{table}{?limit,offset}");
    expect(rows.match("rows://t?offset=5&limit=2")).toEqual({
      table: "t",
      limit: "2",
      offset: "5",
    });
    expect(rows.match("rows://t")).toEqual({ table: "t" });
  });

  it("does not match a broken encoding, a different prefix, or beyond the limit", () => {
    const file = compileTemplate("file:///{+path}");
    expect(file.match("file:///%E0%A4%A")).toBeUndefined();
    expect(file.match("xfile:///a")).toBeUndefined();
    expect(file.match(`file:///${"a".repeat(20_000)}`)).toBeUndefined();
    expect(file.match("file:///a.b*c(d)\nnew")).toEqual({ path: "a.b*c(d)\nnew" });
  });

  it("refuses an unsupported expression", () => {
    expect(() => compileTemplate("x://{/path}")).toThrow(/Unknown expression/);
  });
});
