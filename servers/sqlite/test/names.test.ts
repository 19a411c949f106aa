import { expect, it } from "vitest";
import { labs } from "./asking.ts";
import { talk } from "./session.ts";

const enter = labs();

it("accepts the names and arguments of the official server, and former names", async () => {
  const { file } = await enter();
  const server = await talk(["--db-path", file, "--allow-write"]);
  const sql = "SELECT name FROM users WHERE id = 1";
  expect(await server.data("read_query", { query: sql })).toMatchObject({ rows: [["Ada"]] });
  expect(await server.data("explain_query", { query: sql })).toMatchObject({ full_scans: [] });
  expect(await server.data("describe_table", { table_name: "users" })).toMatchObject({
    tables: [{ table: "users" }],
  });
  const change = "UPDATE users SET city = 'Bath' WHERE id = 1";
  expect(await server.data("list_tables")).toMatchObject({ tables: expect.any(Array) });
  expect(await server.data("write_query", { query: change })).toMatchObject({ committed: true });
  await server.close();
});
