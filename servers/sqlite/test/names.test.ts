import { expect, it } from "vitest";
import { enter } from "./lab.ts";
import { talk, talkToProcess } from "./session.ts";

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

it("the server opens a database file given without a flag", async () => {
  const server = await talkToProcess([(await enter()).file]);
  expect(await server.data("list_tables")).toMatchObject({ tables: [{}, {}] });
  await server.close();
});
