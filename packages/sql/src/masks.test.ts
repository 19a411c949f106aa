import { describe, expect, it } from "vitest";
import { maskedNotice, maskOption, masksOf } from "./masks.ts";

describe("masks", () => {
  it.each([
    ["users.email", "users", "email", true],
    ["users.email", "users", "emails", false],
    ["users.email", "my_users", "email", false],
    ["Users.EMAIL", "users", "email", true],
    ["*.pass*", "any", "password_hash", true],
    ["user?.email", "users", "email", true],
    ["a+b.c$", "a+b", "c$", true],
    ["a+b.c$", "aab", "c", false],
    ["*.[x]", "t", "x", false],
  ])("%s for %s.%s: %s", (text, table, column, isMasked) => {
    const [mask] = masksOf([text]);
    const matches = (pattern = "", name = "") => new RegExp(pattern, "is").test(name);
    expect(matches(mask?.table, table) && matches(mask?.column, column)).toBe(isMasked);
    expect(mask?.schema).toBeUndefined();
  });

  it("may name a schema", () => {
    expect(masksOf(["sales.*.iban"])).toEqual([
      { schema: "^sales$", table: "^.*$", column: "^iban$" },
    ]);
  });

  it("need a table and a column", () => {
    for (const text of ["email", "a.b.c.d", ".email", "users."])
      expect(maskOption.mask.check(text)).toMatch(/^must be TABLE.COLUMN/);
    expect(maskOption.mask.check("*.email")).toBeUndefined();
  });

  it("are named in order", () => {
    expect(maskedNotice(new Set(["b.x", "a.y"]))).toBe(
      "Masked by this server, so always NULL: a.y, b.x.",
    );
  });
});
