import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { enter } from "./lab.ts";
import { talk } from "./session.ts";

it("the record of changes is private, and no tool can reach it", async () => {
  const here = await enter({ allowDdl: true });
  const state = join(here.folder, "state");
  await mkdir(state);
  await chmod(state, 0o755);
  const args = [
    "--db-path",
    here.file,
    "--root",
    here.folder,
    "--undo-dir",
    state,
    "--allow-write",
  ];
  const server = await talk([...args, "--allow-ddl"]);
  const { change_id } = await server.data("write_query", { query: "DELETE FROM orders" });
  const changes = join(state, "changes");
  const [directory = ""] = await readdir(changes);
  const record = join(changes, directory, `${change_id}.change`);
  if (process.platform !== "win32") {
    expect((await stat(record)).mode & 0o777).toBe(0o600);
    for (const path of [changes, join(changes, directory)])
      expect((await stat(path)).mode & 0o777).toBe(0o700);
  }
  await server.call("create_table", { query: "CREATE TABLE t (x)" });
  for (const [tool, input] of [
    ["export", { sql: "SELECT 1", path: join(changes, "x.csv") }],
    ["import_csv", { path: record, table: "t" }],
    ["read_query", { query: "SELECT 1", database: record }],
    ["write_query", { query: "DELETE FROM orders", database: record }],
  ] as const) {
    const text = await server.refused(tool, input);
    expect(text, tool).not.toMatch(/not a SQLite database|header line/);
  }
  expect(await readdir(changes)).toEqual([directory]);
  await server.close();
});

it("is erased on request, and off with --no-undo", async () => {
  const here = await enter();
  const args = ["--db-path", here.file, "--undo-dir", here.state, "--allow-write"];
  const list = async (...more: string[]) => {
    const server = await talk([...args, ...more]);
    const { changes } = await server.data("list_database_changes");
    await server.close();
    return changes;
  };
  const first = await talk(args);
  const { change_id } = await first.data("write_query", { query: "DELETE FROM orders" });
  await first.close();
  // Another server, and later ones, can undo it.
  expect(await list()).toMatchObject([{ change_id, can_undo: true }]);
  const off = await talk([...args, "--no-undo"]);
  expect(
    await off.data("write_query", { query: "INSERT INTO orders VALUES (9, 1, 1)" }),
  ).not.toHaveProperty("change_id");
  await off.close();
  expect(await list("--forget-changes")).toEqual([]);
  expect(await readdir(here.state)).toEqual([]);
});
