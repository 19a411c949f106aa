import { describe, expect, it } from "vitest";
import { removedFrom, statementOf, targetOf, tokenize } from "./tokens.ts";

describe("tokens", () => {
  it.each([
    ["/* a */ -- b\n[x]]y `z` \"q\"\"r\" 's;''t'", ["[x]", "]", "y", "`z`", '"q""r"', "'s;''t'"]],
    ["'open '' to the end", ["'open '' to the end"]],
    ["a /* open", ["a"]],
  ])("of %j", (sql, expected) => {
    expect(tokenize(sql).map(({ text }) => text)).toEqual(expected);
  });
});

describe("statements", () => {
  it.each([
    ["DROP TABLE IF EXISTS a.b", "a.b"],
    ["DELETE FROM users", undefined],
    ["DROP VIEW v", undefined],
    ["ALTER TABLE a DROP COLUMN b", "a"],
    ["ALTER TABLE a ADD b", undefined],
    ["SELECT 'DROP TABLE users'", undefined],
  ])("%s", (sql, table) => {
    expect(removedFrom(statementOf(sql))).toBe(table);
  });

  it.each([
    ["INSERT OR REPLACE INTO main.users SELECT * FROM into_x", "main.users"],
    ["REPLACE INTO [a b] VALUES (1)", "[a b]"],
    ["WITH x AS (SELECT 1) UPDATE OR IGNORE users SET a = (SELECT 1)", "users"],
    ['DELETE FROM "delete" WHERE true', '"delete"'],
    ["DROP TABLE users", undefined],
  ])("names the table of %j", (sql, table) => {
    expect(targetOf(statementOf(sql))).toBe(table);
  });
  it("are counted", () => {
    const counts = ["", ";", "a;", "a; b", "a /* ; */", "';'"].map((sql) => statementOf(sql).count);
    expect(counts).toEqual([0, 0, 1, 2, 1, 1]);
    const trigger =
      "CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; DELETE FROM b; END";
    const after = ["", ";", "; DROP TABLE a"].map((rest) => statementOf(trigger + rest).count);
    expect(after).toEqual([1, 1, 2]);
    expect(statementOf("CREATE TABLE trigger (x); END; DROP TABLE a").count).toBe(3);
  });
});
