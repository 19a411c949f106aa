import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Task, World } from "@refmcp/testing";
import { naive } from "../test/lab.ts";

/** One value from the fixture's database, read without the server. */
async function oneValue(world: World, sql: string): Promise<unknown> {
  const [row] = await naive(world.args[1] ?? "", sql).catch(() => []);
  return row === undefined ? undefined : Object.values(row)[0];
}

const folderOf = (world: World): string => world.args[3] ?? "";
const WRITE = ["--allow-write"];
const DBA = ["--toolsets", "data,dba"];

/** A question that one value answers. */
const question = (
  name: string,
  prompt: string,
  sql: string,
  right: string,
  table: string,
): Task => ({
  name,
  prompt,
  async reference(call) {
    await call("pg_describe_tables", { table });
    return String(JSON.parse(await call("query", { sql })).rows[0][0]);
  },
  check: (answer) => answer === right,
});

export const tasks: readonly Task[] = [
  {
    name: "find a column",
    prompt: "Which table has a total, and which table does it reference?",
    async reference(call) {
      const entries = JSON.parse(await call("pg_describe_tables", { column: "total" })).tables;
      const { table } = entries.find(({ type }: { type: string }) => type === "table");
      const { tables } = JSON.parse(await call("pg_describe_tables", { match: table }));
      const [whole] = tables.filter((entry: { table: string }) => entry.table === table);
      return `${table}: ${whole.columns.find((line: string) => line.includes("→"))}`;
    },
    check: (answer) => answer === "orders: customer_id int not null → customers.id",
  },
  question(
    "best customer",
    "Which customer spent most?",
    "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name ORDER BY sum(o.total) DESC LIMIT 1",
    "Ada",
    "orders",
  ),
  question(
    "exact sum",
    "What is the exact total of all orders?",
    "SELECT sum(total) FROM orders",
    "230.49",
    "orders",
  ),
  question(
    "an id beyond JavaScript",
    "What is the id of the latest order?",
    "SELECT id FROM orders ORDER BY placed_at DESC LIMIT 1",
    "9007199254740993",
    "orders",
  ),
  {
    name: "what is there",
    prompt: "Which tables and views does this database have, and what is the customers table for?",
    async reference(call) {
      const { names } = JSON.parse(await call("pg_describe_tables", { detail: "names" }));
      const { tables } = JSON.parse(await call("pg_describe_tables", { table: "customers" }));
      return `${Object.values(names.public).join(", ")}: ${tables[0].comment}`;
    },
    check: (answer) =>
      ["customers", "orders", "numbers", "big_orders", "ordered at least once"].every((part) =>
        answer.includes(part),
      ),
  },
  {
    name: "read everything in pages",
    prompt: "Add up the column n of numbers by reading all rows.",
    async reference(call) {
      let sum = 0;
      let cursor: string | undefined;
      do {
        const page = JSON.parse(
          await call("query", {
            sql: "SELECT n FROM numbers ORDER BY n",
            max_rows: 10_000,
            ...(cursor === undefined ? {} : { cursor }),
          }),
        );
        for (const [n] of page.rows) sum += n;
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      return String(sum);
    },
    check: (answer) => answer === "200010000",
  },
  {
    name: "why is it slow",
    prompt: "Does finding one line of numbers by n read the whole table?",
    reference: async (call) =>
      JSON.parse(
        await call("pg_explain", { sql: "SELECT line FROM numbers WHERE n = 7", analyze: true }),
      ).plan.join("\n"),
    check: (answer) => answer.includes("Seq Scan on numbers"),
  },
  {
    name: "a missing index",
    prompt: "Is there a foreign key without an index? Name it.",
    args: DBA,
    async reference(call) {
      await call("pg_top_queries", { limit: 5 });
      const { findings } = JSON.parse(await call("pg_health", { checks: ["indexes"] }));
      return JSON.stringify(findings[0].details);
    },
    check: (answer) => /orders.*customer_id/.test(answer),
  },
  {
    name: "export to a file",
    prompt: "Write all orders above 50 to big.csv.",
    async reference(call) {
      const sql = "SELECT id, total FROM orders WHERE total > 50 ORDER BY id";
      return JSON.parse(await call("pg_export", { sql, path: "big.csv" })).path;
    },
    check: async (_answer, world) =>
      (await readFile(join(folderOf(world), "big.csv"), "utf8").catch(() => "")) ===
      "id,total\n1,120.50\n9007199254740993,99.99\n",
  },
  {
    name: "import from a file",
    prompt: "Load new-customers.csv into customers, but first check what it would do.",
    args: WRITE,
    async reference(call) {
      const file = { path: "new-customers.csv", table: "customers" };
      await call("pg_import_csv", { ...file, dry_run: true });
      await call("pg_import_csv", file);
      return "done";
    },
    check: async (_answer, world) =>
      (await oneValue(world, "SELECT count(*)::int FROM customers")) === 5,
  },
  {
    name: "move an order, all or nothing",
    prompt: "Give Grace's order to Edsger and move him to Leiden, in one transaction.",
    args: WRITE,
    async reference(call) {
      await call("pg_execute", {
        statements: [
          "UPDATE orders SET customer_id = 3 WHERE customer_id = 2",
          "UPDATE customers SET city = 'Leiden' WHERE id = 3",
        ],
      });
      return "done";
    },
    check: async (_answer, world) =>
      (await oneValue(world, "SELECT city FROM customers WHERE id = 3")) === "Leiden" &&
      (await oneValue(world, "SELECT count(*)::int FROM orders WHERE customer_id = 3")) === 1,
  },
  {
    name: "empty a table",
    prompt: "Delete all orders.",
    args: WRITE,
    async reference(call) {
      await call("pg_execute", { statements: ["DELETE FROM orders"], dry_run: true });
      return await call("pg_execute", { statements: ["DELETE FROM orders"] });
    },
    check: async (_answer, world) =>
      (await oneValue(world, "SELECT count(*)::int FROM orders")) === 0,
  },
  {
    name: "undo a mistake",
    prompt: "Grace's mood was just set to busy by mistake. Undo that change.",
    args: WRITE,
    async reference(call) {
      const { changes } = JSON.parse(await call("pg_list_changes", { limit: 1 }));
      return await call("pg_undo_change", { change_id: changes[0].change_id });
    },
    check: async (_answer, world) =>
      (await oneValue(world, "SELECT mood::text FROM customers WHERE name = 'Grace'")) === "calm",
  },
];
