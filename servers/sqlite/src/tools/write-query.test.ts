import { expect, it } from "vitest";
import { labs } from "../../test/tools.ts";
import tool from "./write-query.ts";

const enter = labs();
const of = (input: unknown) => tool.input.parse(input);

it("changes rows, previews, and records the change", async () => {
  const { databases, call } = await enter();
  const run = (input: object, by = call) => tool.run(of(input), databases, by);
  const insert = { query: "INSERT INTO users VALUES (?, ?, ?)", params: [9, "Luigi", "Turin"] };
  expect(await run({ ...insert, dry_run: true })).toMatchObject({
    committed: false,
    results: [{ row_count: 1 }],
  });
  expect(await run(insert)).toEqual({
    committed: true,
    results: [{ command: "INSERT", row_count: 1 }],
    tables: [{ table: "users", inserted: 1, updated: 0, deleted: 0 }],
    last_insert_rowid: "9",
    change_id: expect.stringMatching(/^\w{9}-\w{6}$/),
    note: expect.stringContaining("A copy of the changed rows"),
    truncated: false,
  });
  expect(await run({ query: "DELETE FROM users WHERE id = 9 RETURNING id, name" })).toMatchObject({
    results: [
      {
        command: "DELETE",
        columns: [{ name: "id", type: "INTEGER" }, { name: "name" }],
        rows: [[9, "Luigi"]],
      },
    ],
  });
  expect(await run({ query: "DELETE FROM orders" })).toMatchObject({ committed: true });
  expect(call.questions).toEqual([]);
  await expect(run({ query: "DROP TABLE users" })).rejects.toMatchObject({ kind: "denied" });
  expect(call.questions).toEqual(["This cannot be undone: DROP TABLE users (3 rows)."]);
});

it("deletes exactly what the user confirmed", async () => {
  const { databases, call } = await enter(true);
  const query = "DROP TABLE orders";
  expect(await tool.run(of({ query }), databases, call)).toMatchObject({ committed: true });
  expect(call.questions).toEqual(["This cannot be undone: DROP TABLE orders (3 rows)."]);
});
