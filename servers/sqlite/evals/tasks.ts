import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Task, World } from "@refmcp/testing";
import Sqlite from "better-sqlite3";

/** One value from the fixture's database, read without the server. */
function oneValue(world: World, sql: string): unknown {
  const database = new Sqlite(world.args[1] ?? "", { readonly: true });
  try {
    return database.prepare(sql).pluck().get();
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}

const folderOf = (world: World) => dirname(world.args[1] ?? "");
const firstCell = (text: string): string => String(JSON.parse(text).rows[0][0]);
const WRITE = ["--allow-write", "--allow-ddl"];

/** A question whose answer is one value. */
const question = (
  name: string,
  prompt: string,
  query: string,
  right: string,
  table = "users",
): Task => ({
  name,
  prompt,
  async reference(call) {
    await call("describe_tables", { table });
    return firstCell(await call("read_query", { sql: query }));
  },
  check: (answer) => answer === right,
});

export const tasks: readonly Task[] = [
  question(
    "count by city",
    "How many of our users live in London?",
    "SELECT count(*) FROM users WHERE city = 'London'",
    "2",
  ),
  question(
    "best customer",
    "Who spent most in our shop?",
    "SELECT u.name FROM users u JOIN orders o ON o.user_id = u.id GROUP BY u.id ORDER BY sum(o.total) DESC LIMIT 1",
    "Ada",
    "orders",
  ),
  question(
    "who never ordered",
    "Which user has never ordered anything?",
    "SELECT name FROM users WHERE id NOT IN (SELECT user_id FROM orders)",
    "Mary",
  ),
  {
    name: "find a column",
    prompt: "Which table has a total, and which table does it reference?",
    async reference(call) {
      const [match] = JSON.parse(await call("describe_tables", { column: "total" })).tables;
      const { tables } = JSON.parse(await call("describe_tables", { match: match.table }));
      return `${match.table}: ${tables[0].columns.find((line: string) => line.includes("→"))}`;
    },
    check: (answer) => answer === "orders: user_id INTEGER → users.id",
  },
  {
    name: "find the table",
    prompt: "Which table holds the long list of readers, and how many are there?",
    async reference(call) {
      const { tables } = JSON.parse(await call("describe_tables", { detail: "full" }));
      const { table } = tables.find((each: { row_count: number }) => each.row_count > 1_000);
      const sql = `SELECT count(*) FROM ${table}`;
      return `${table} ${firstCell(await call("read_query", { sql }))}`;
    },
    check: (answer) => answer === "crowd 20000",
  },
  {
    name: "read everything in pages",
    prompt: "Add up the numbers of all readers by reading them all.",
    async reference(call) {
      let sum = 0;
      let cursor: string | undefined;
      do {
        const page = JSON.parse(
          await call("read_query", {
            sql: "SELECT n FROM crowd",
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
    prompt: "Does looking up users by city read the whole table?",
    reference: async (call) =>
      JSON.parse(
        await call("explain", { sql: "SELECT * FROM users WHERE city = 'x'" }),
      ).full_scans.join(),
    check: (answer) => answer === "users",
  },
  {
    name: "a new table with rows",
    prompt: "Make a table of notes and put the note 'tea at five' into it.",
    args: WRITE,
    async reference(call) {
      await call("execute", {
        statements: [
          "CREATE TABLE notes (note TEXT)",
          { sql: "INSERT INTO notes VALUES (?)", params: ["tea at five"] },
        ],
      });
      return "done";
    },
    check: (_answer, world) => oneValue(world, "SELECT note FROM notes") === "tea at five",
  },
  {
    name: "move an order, all or nothing",
    prompt: "Move Charles to Bath and give his order to Mary, in one transaction.",
    args: WRITE,
    async reference(call) {
      await call("execute", {
        statements: [
          "UPDATE users SET city = 'Bath' WHERE name = 'Charles'",
          "UPDATE orders SET user_id = 2 WHERE user_id = 3",
        ],
      });
      return "done";
    },
    check: (_answer, world) =>
      oneValue(world, "SELECT city FROM users WHERE id = 3") === "Bath" &&
      oneValue(world, "SELECT count(*) FROM orders WHERE user_id = 2") === 1,
  },
  {
    name: "empty a table",
    prompt: "Delete all orders.",
    args: WRITE,
    async reference(call) {
      await call("execute", { statements: ["DELETE FROM orders"] });
      return "done";
    },
    check: (_answer, world) => oneValue(world, "SELECT count(*) FROM orders") === 0,
  },
  {
    name: "is the file healthy",
    prompt: "Is the database intact, and which table takes up the most space?",
    async reference(call) {
      const ask = async (sql: string) => firstCell(await call("read_query", { sql }));
      const largest = "SELECT name FROM dbstat GROUP BY name ORDER BY sum(pgsize) DESC LIMIT 1";
      return `${await ask("PRAGMA quick_check")} ${await ask(largest)}`;
    },
    check: (answer) => answer === "ok crowd",
  },
  {
    name: "export everything",
    prompt: "Write all readers to readers.csv for the printers, and tell me how many there are.",
    async reference(call) {
      const query = "SELECT n, name FROM crowd ORDER BY n";
      return String(JSON.parse(await call("export", { sql: query, path: "readers.csv" })).rows);
    },
    async check(answer, world) {
      const text = await readFile(join(folderOf(world), "readers.csv"), "utf8").catch(() => "");
      const lines = text.trimEnd().split(/\r?\n/);
      return answer === "20000" && lines.length === 20_001 && lines[0] === "n,name";
    },
  },
  {
    name: "import a list",
    prompt: "Import the new users from more.csv into our users table.",
    args: WRITE,
    async reference(call) {
      const file = { path: "more.csv", table: "users" };
      const { rows } = JSON.parse(await call("import_csv", { ...file, dry_run: true }));
      await call("import_csv", file);
      return String(rows);
    },
    check: (answer, world) =>
      answer === "2" && oneValue(world, "SELECT count(*) FROM users WHERE city IS NULL") === 1,
  },
  {
    name: "make it faster",
    prompt: "Looking up users by city is slow. Make it fast.",
    args: WRITE,
    async reference(call) {
      const query = "SELECT name FROM users WHERE city = 'London'";
      const [index] = JSON.parse(await call("explain", { sql: query })).missing_indexes;
      await call("execute", { statements: [index] });
      return JSON.parse(await call("explain", { sql: query })).full_scans.join();
    },
    check: (answer, world) =>
      answer === "" &&
      oneValue(
        world,
        "SELECT name FROM sqlite_schema WHERE tbl_name = 'users' AND type = 'index'",
      ) !== undefined,
  },
];
