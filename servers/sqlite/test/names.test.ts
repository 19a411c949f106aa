import { expect, it } from "vitest";
import { labs } from "./asking.ts";
import { talk } from "./session.ts";

const enter = labs();

it("accepts the PostgreSQL server's argument names, and former names", async () => {
  const { file } = await enter();
  const server = await talk(["--db-path", file, "--allow-write"]);
  const sql = "SELECT name FROM users WHERE id = 1";
  expect(await server.data("read_query", { sql })).toMatchObject({ rows: [["Ada"]] });
  expect(await server.data("explain_query", { query: sql })).toMatchObject({ full_scans: [] });
  expect(await server.data("describe_table", { table: "users" })).toMatchObject({ table: "users" });
  const change = "UPDATE users SET city = 'Bath' WHERE id = 1";
  expect(await server.data("write_query", { sql: change })).toMatchObject({ committed: true });
  await server.close();
});
