import { expect, it } from "vitest";
import * as z from "zod";
import { idOf, labs } from "../../test/tools.ts";
import tool from "./list-database-changes.ts";
import undoChange from "./undo-database-change.ts";
import writeQuery from "./write-query.ts";

const enter = labs();
const page = z.object({ changes: z.array(z.unknown()), next_cursor: z.string().optional() });

it("lists changes, newest first, in pages", async () => {
  const { databases, call } = await enter();
  const list = async (input: object) =>
    page.parse(await tool.run(tool.input.parse(input), databases, call));
  expect(await list({})).toEqual({ changes: [] });
  const ids: string[] = [];
  for (const query of ["DELETE FROM orders", "INSERT INTO users (name) VALUES ('Luigi')"])
    ids.unshift(idOf(await writeQuery.run(writeQuery.input.parse({ query }), databases, call)));
  const undo = undoChange.input.parse({ change_id: ids[1] });
  const undone = idOf(await undoChange.run(undo, databases, call));
  const { changes } = await list({});
  expect(changes).toMatchObject([
    { change_id: undone, statements: [`undo of ${ids[1]}`], can_undo: true, undoes: ids[1] },
    { change_id: ids[0], can_undo: true, tables: [{ table: "users", inserted: 1 }] },
    {
      change_id: ids[1],
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      statements: ["DELETE FROM orders"],
      tables: [{ table: "orders", inserted: 0, updated: 0, deleted: 3 }],
      can_undo: false,
      undone_by: undone,
    },
  ]);
  const first = await list({ limit: 2 });
  expect(first.changes).toEqual(changes.slice(0, 2));
  expect(await list({ limit: 2, cursor: first.next_cursor })).toEqual({
    changes: changes.slice(2),
  });
});
