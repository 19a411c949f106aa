import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { World } from "@refmcp/testing";
import { lab } from "./lab.ts";
import { talk } from "./session.ts";

const SETUP = `
  CREATE TYPE mood AS ENUM ('calm', 'busy');
  CREATE TABLE customers (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, city text, mood mood DEFAULT 'calm');
  COMMENT ON TABLE customers IS 'People who ordered at least once';
  CREATE TABLE orders (id bigint PRIMARY KEY, customer_id int NOT NULL REFERENCES customers (id) ON DELETE CASCADE, total numeric(10, 2) CHECK (total >= 0), placed_at timestamptz NOT NULL, note jsonb);
  CREATE INDEX orders_placed_at ON orders (placed_at);
  CREATE VIEW big_orders AS SELECT * FROM orders WHERE total > 100;
  CREATE TABLE numbers AS SELECT n, 'a somewhat longer line of text, number ' || n AS line FROM generate_series(1, 20000) n;
  CREATE FUNCTION total_of(int) RETURNS numeric LANGUAGE sql STABLE AS 'SELECT sum(total) FROM orders WHERE customer_id = $1';
  INSERT INTO customers (name, city) VALUES ('Ada', 'London'), ('Grace', 'New York'), ('Edsger', NULL);
  INSERT INTO orders VALUES (1, 1, 120.50, '2026-07-01 10:00:00+00', '{"gift": true}'), (2, 1, 10.00, '2026-07-02 11:30:00+00', NULL),
    (9007199254740993, 2, 99.99, '2026-07-03 12:45:30.5+00', NULL);
  ALTER TABLE customers OWNER TO CURRENT_USER;
  ANALYZE;
`;

const CHANGE = "UPDATE customers SET city = $1 WHERE name = $2 RETURNING id, city";

/** A small shop in a separate database, used through an ordinary role, and a folder for files. */
export async function world(): Promise<World> {
  const { url, adminUrl, role, password, admin, dispose } = await lab(SETUP);
  // The role owns the tables, so that it can drop them if allowed.
  for (const table of ["customers", "orders", "numbers", "big_orders"])
    await admin(`ALTER TABLE ${table} OWNER TO ${role}`);
  const folder = await mkdtemp(join(tmpdir(), "refmcp-postgres-world-"));
  const csv = 'name,city\nBarbara,Boston\n"Lovelace, Ada",\n';
  await writeFile(join(folder, "new-customers.csv"), csv);
  const host = new URL(url).host;
  const state = await mkdtemp(join(tmpdir(), "refmcp-postgres-state-"));
  const args = ["--url", url, "--root", folder, "--undo-dir", state];
  const first = await talk([...args, "--allow-write"]);
  const { change_id } = await first.data("pg_execute", {
    statements: ["UPDATE customers SET mood = 'busy' WHERE name = 'Grace'"],
  });
  await first.close();
  return {
    args,
    calls: {
      pg_describe_tables: { table: "orders" },
      pg_execute: { statements: [{ sql: CHANGE, params: ["Paris", "Edsger"] }] },
      pg_explain: { sql: "SELECT * FROM customers WHERE id = $1", params: [1] },
      pg_export: { sql: "SELECT id, name FROM customers ORDER BY id", path: "customers.csv" },
      pg_health: { checks: ["sequences", "locks", "settings"] },
      pg_import_csv: { path: "new-customers.csv", table: "customers" },
      pg_list_changes: {},
      pg_top_queries: { limit: 3 },
      pg_undo_change: { change_id },
      query: {
        sql: "SELECT c.name, o.id, o.total, o.placed_at, o.note FROM orders o JOIN customers c ON c.id = o.customer_id ORDER BY o.id",
      },
    },
    losses: { pg_execute: { arguments: { statements: ["TRUNCATE orders"] } } },
    failures: {
      pg_describe_tables: { table: "custmers" },
      pg_execute: { statements: ["COMMIT"] },
      pg_explain: { sql: "DELETE FROM orders" },
      pg_export: { sql: "SELECT 1", path: "/etc/passwd" },
      pg_import_csv: { path: "new-customers.csv", table: "custmers" },
      pg_list_changes: { cursor: "made up" },
      pg_undo_change: { change_id: "made up" },
      query: { sql: "SELECT nme FROM customers" },
    },
    large: {
      query: { sql: "SELECT * FROM numbers", max_rows: 10_000 },
      pg_describe_tables: { schema: "pg_catalog" },
    },
    secret: password,
    async fingerprint() {
      const rows = await admin(
        `SELECT (SELECT json_agg(c ORDER BY id) FROM customers c) AS customers, (SELECT json_agg(o ORDER BY id) FROM orders o) AS orders,
           (SELECT count(*) FROM numbers) AS numbers, (SELECT string_agg(relname || relkind::text, ',' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS relations,
           (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS locks`,
      );
      return createHash("sha256").update(JSON.stringify(rows)).digest("hex");
    },
    stable: (text) =>
      text
        .replaceAll(folder, "/world")
        .replaceAll(role, "reader")
        .replaceAll(host, "localhost:5432")
        .replaceAll(new URL(adminUrl).pathname.slice(1), "shop")
        .replace(/\b0[0-9a-z]{8}-[0-9a-f]{6}\b/g, "0mwxy1234-abcdef")
        .replace(/"time(\\?)": ?(\\?)"20[^"\\]*/g, '"time$1":$2"2026-07-01T10:00:00.000Z')
        .replace(/(elapsed_ms\\?": ?)[\d.]+/g, "$11")
        .replace(/(planning_ms\\?": ?)[\d.]+/g, "$11"),
    async dispose() {
      for (const path of [folder, state]) await rm(path, { recursive: true, force: true });
      await dispose();
    },
  };
}
