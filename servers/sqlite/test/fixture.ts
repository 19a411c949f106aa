import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runChanges } from "@refmcp/sql";
import { fakeCall, type World } from "@refmcp/testing";
import { lab } from "./lab.ts";

const SECRET = "hunter2-planted-secret";
const MANY_CALLS = `CREATE TABLE crowd AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 20000)
SELECT n, 'reader number ' || n || ' of the long list' AS name FROM t;`;

/** A small shop in a separate database. */
export async function world(): Promise<World> {
  const { folder, file, state, databases, dispose } = await lab({ sql: MANY_CALLS });
  const statements = [{ sql: "UPDATE orders SET total = 9 WHERE id = 2", params: [] }];
  const recorded = await runChanges(databases, { statements, dryRun: false }, fakeCall());
  await databases.close();
  await writeFile(join(folder, "private.txt"), SECRET);
  await writeFile(join(folder, "more.csv"), "name,city\nLuigi,Turin\nAnna,\n");
  return {
    args: ["--db-path", file, "--root", folder, "--undo-dir", state],
    calls: {
      describe_tables: { table: "orders" },
      explain: { sql: "SELECT * FROM users WHERE city = ?", params: ["London"] },
      export: { sql: "SELECT * FROM users ORDER BY id", path: "users.csv" },
      import_csv: { path: "more.csv", table: "users" },
      list_database_changes: {},
      read_query: {
        sql: "SELECT id, name FROM users WHERE city = ? ORDER BY id",
        params: ["London"],
      },
      execute: {
        statements: [
          "INSERT INTO users VALUES (4, 'Luigi', 'Turin')",
          { sql: "UPDATE users SET city = ? WHERE id = ?", params: ["Paris", 2] },
        ],
      },
      undo_database_change: { change_id: recorded.change_id },
    },
    losses: {
      execute: { arguments: { statements: ["DELETE FROM crowd"] }, options: ["--no-undo"] },
    },
    failures: {
      describe_tables: { table: "user" },
      explain: { sql: "DELETE FROM users" },
      export: { sql: "SELECT 1", path: "/etc/refmcp.csv" },
      import_csv: { path: "more.csv", table: "orders" },
      list_database_changes: { cursor: "made up" },
      read_query: { sql: "SELECT * FROM user" },
      execute: { statements: ["COMMIT"] },
      undo_database_change: { change_id: "nothing" },
    },
    large: { read_query: { sql: "SELECT * FROM crowd", max_rows: 10_000 } },
    secret: SECRET,
    fingerprint: async () =>
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex"),
    stable: (text) =>
      text
        .replaceAll(folder, "/world")
        .replace(/\b[0-9a-z]{9}-[0-9a-f]{6}\b/g, "0mwxyz123-abc123")
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-01-01T00:00:00.000Z")
        .replace(/(elapsed_ms\\?": ?)[\d.]+/g, "$11.5")
        .replace(/(sqlite_version\\?": ?\\?")[\d.]+/g, "$13.0.0"),
    dispose,
  };
}
