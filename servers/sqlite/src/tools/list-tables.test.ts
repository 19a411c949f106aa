import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./list-tables.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("lists tables in pages", async () => {
  const { databases, call } = await enter();
  const first = await tool.run(of({ limit: 1 }), databases, call);
  expect(first).toMatchObject({ tables: [{ name: "orders", type: "table" }] });
  const cursor = "next_cursor" in first ? first.next_cursor : undefined;
  expect(await tool.run(of({ limit: 1, cursor }), databases, call)).toEqual({
    tables: [{ name: "users", type: "table" }],
  });
});

it("lists views and virtual tables, without SQLite's own tables", async () => {
  const { databases, call } = await enter(
    undefined,
    "CREATE VIEW shown AS SELECT 1; CREATE VIRTUAL TABLE words USING fts5(body); CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT);",
  );
  expect(await tool.run(of({}), databases, call)).toEqual({
    tables: [
      { name: "counted", type: "table" },
      { name: "orders", type: "table" },
      { name: "shown", type: "view" },
      { name: "users", type: "table" },
      { name: "words", type: "virtual" },
    ],
  });
});
