import { expect, it } from "vitest";
import { shop } from "./shop.ts";

const at = shop();

it("lists changes, newest first, in pages, with what each did", async () => {
  for (const city of ["Rome", "Oslo"])
    await at.data("pg_execute", {
      statements: [{ sql: "UPDATE customers SET city = $1 WHERE id = 1", params: [city] }],
    });
  await at.put("more.csv", "name\nDijkstra\n");
  await at.data("pg_import_csv", { path: "more.csv", table: "customers" });
  const first = Object(await at.data("pg_list_changes", { limit: 1 }));
  expect(first.changes).toEqual([
    {
      change_id: expect.any(String),
      time: expect.any(String),
      statements: ["import of more.csv into customers"],
      tables: [{ table: expect.stringMatching(/customers$/), inserted: 1, updated: 0, deleted: 0 }],
      can_undo: true,
    },
  ]);
  const next = Object(await at.data("pg_list_changes", { limit: 1, cursor: first.next_cursor }));
  expect(next.changes).toMatchObject([{ tables: [{ updated: 1 }], can_undo: true }]);
  const { change_id: undo } = await at.data("pg_undo_change", {
    change_id: next.changes[0].change_id,
  });
  const { changes } = Object(await at.data("pg_list_changes", {}));
  expect(changes).toMatchObject([
    { change_id: undo, undoes: next.changes[0].change_id },
    { change_id: first.changes[0].change_id },
    { can_undo: false, undone_by: undo },
    {},
    {},
  ]);
  // What it says is what an undo does: that of an undo, too.
  for (const { change_id, can_undo } of changes)
    expect(await at.call("pg_undo_change", { change_id, dry_run: true })).toMatchObject({
      isError: !can_undo,
    });
});
