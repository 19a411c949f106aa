import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { idOf, labs } from "../../test/tools.ts";
import tool from "./undo-database-change.ts";
import writeQuery from "./write-query.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("undoes a change, which can be undone too, and refuses if a row has changed since", async () => {
  const { databases, file, call } = await enter();
  const write = async (query: string) =>
    idOf(await writeQuery.run(writeQuery.input.parse({ query }), databases, call));
  const totals = () => {
    const database = new Sqlite(file);
    const all = database.prepare("SELECT total FROM orders ORDER BY id").pluck().all();
    database.close();
    return all;
  };
  const id = await write("UPDATE orders SET total = 0");
  expect(totals()).toEqual([0, 0, 0]);
  expect(await tool.run(of({ change_id: id, dry_run: true }), databases, call)).toEqual({
    undone: id,
    committed: false,
    tables: [{ table: "orders", inserted: 0, updated: 3, deleted: 0 }],
  });
  const change_id = idOf(await tool.run(of({ change_id: id }), databases, call));
  expect(totals()).toEqual([10.5, 20, 7.25]);
  await expect(tool.run(of({ change_id: id }), databases, call)).rejects.toMatchObject({
    kind: "conflict",
    message: `Change ${id} has already been undone, by ${change_id}.`,
  });
  await tool.run(of({ change_id }), databases, call);
  expect(totals()).toEqual([0, 0, 0]);
  await write("UPDATE orders SET total = 1 WHERE id = 2");
  await expect(tool.run(of({ change_id: id }), databases, call)).rejects.toMatchObject({
    kind: "conflict",
    message: `Change ${id} was not undone: 1 of its rows is not as it left them: orders 2.`,
  });
  await expect(tool.run(of({ change_id: "nothing" }), databases, call)).rejects.toMatchObject({
    kind: "not_found",
  });
  expect(totals()).toEqual([0, 1, 0]);
});
