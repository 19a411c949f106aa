import { describe, expect, it } from "vitest";
import { asTable } from "./table.ts";

const lines = (data: unknown, limited = false) => asTable(data, limited)?.split("\n");

describe("asTable", () => {
  it("aligns rows of a query, numbers to the right, and puts the rest below", () => {
    const columns = [{ name: "name", type: "text" }, { name: "total" }];
    const rows = [
      ["Ada", 1200],
      ["Grace", null],
    ];
    expect(lines({ columns, rows, row_count: 2, note: "a\nb" })).toEqual([
      "name   total",
      "-----  -----",
      "Ada     1200",
      "Grace",
      "",
      "row_count: 2",
      "note: a\\nb",
      "",
    ]);
  });

  it("shows a list of objects with all their keys", () => {
    expect(
      lines({
        count: 2,
        entities: [
          { name: "Ada", tags: ["x"] },
          { name: "Bob", age: 7 },
        ],
      }),
    ).toEqual([
      "name  tags   age",
      "----  -----  ---",
      'Ada   ["x"]',
      "Bob          7",
      "",
      "count: 2",
      "",
    ]);
  });

  it("shows other data as names and values, and a query without rows with its columns", () => {
    expect(lines({ branch: "main", ahead: 2 })).toEqual([
      "name    value",
      "------  -----",
      "branch  main",
      "ahead   2",
      "",
    ]);
    expect(lines({ columns: ["id"], rows: [] })).toEqual(["id", "--", ""]);
  });

  it("escapes control characters, and shortens long cells on a terminal only", () => {
    const data = { columns: ["a"], rows: [["x".repeat(50)], ["\u001b[2J"]] };
    expect(lines(data, true)?.[2]).toBe(`${"x".repeat(39)}…`);
    expect(lines(data)?.slice(2, 4)).toEqual(["x".repeat(50), "\\u{1b}[2J"]);
  });

  it.each([[undefined], ["text"], [[1]]])("has none for %j", (data) => {
    expect(asTable(data, false)).toBeUndefined();
  });
});
