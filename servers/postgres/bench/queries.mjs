// The PostgreSQL server compared with the raw driver, the official one and DBHub, on a real PostgreSQL that is started for this.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  command,
  figure,
  inTurn,
  median,
  minimum,
  peers,
  RawClient,
  ratio,
  sqlPeer,
  transferTable,
} from "../../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";
import { testPostgres } from "./lib/test-postgres.mjs";

/** @typedef {import("../../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {Partial<Record<"raw" | "official" | "dbhub" | "ours", () => unknown>>} Works */

export const title = "queries over stdio";

const OFFICIAL = { "@modelcontextprotocol/server-postgres": "0.6.2" };
const BIN = join(ROOT, "servers", "postgres", "dist", "bin.js");
const require = createRequire(join(ROOT, "servers", "postgres", "package.json"));

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const { startPostgres } = await testPostgres();
  const postgres = await startPostgres();
  try {
    const url = await postgres.createDatabase();
    const { default: pg } = await import(pathToFileURL(require.resolve("pg")).href);
    const raw = new pg.Client({ connectionString: url });
    // The server stops before its client where something below throws.
    raw.on("error", () => undefined);
    await raw.connect();
    await raw.query(
      `CREATE TABLE numbers AS SELECT n, 'a somewhat longer line of text, number ' || n AS line, now() AS at
       FROM generate_series(1, 100000) n;
       DO $$ BEGIN FOR i IN 1..1000 LOOP
         EXECUTE format('CREATE TABLE t%s (id bigint PRIMARY KEY, a text, b numeric, c timestamptz)', i);
       END LOOP; END $$; ANALYZE`,
    );
    await measure(report, { raw, url });
    report(await transfers(raw, url));
    await raw.end();
  } finally {
    await postgres.stop();
  }
}

/** @param {Report} report @param {{ raw: import("pg").Client, url: string }} parts */
async function measure(report, { raw, url }) {
  const entry = (await peers(OFFICIAL))("@modelcontextprotocol/server-postgres/dist/index.js");
  const peer = await sqlPeer();
  const official = await connect([peer.node, entry, url]);
  const dbhub = await connect(peer.dbhub(url));
  const limits = ["--max-answer-chars", "80000"];
  const program = [peer.node, BIN, "--url", url, "--allow-privileged-role"];
  const ours = await connect([...program, ...limits]);
  const standard = await connect(program);
  /** @type {string[][]} */
  const rows = [];
  /** @type {(what: string, count: number, works: Works) => Promise<void>} */
  const add = async (what, count, works) => {
    /** @type {Partial<Record<keyof Works, number[]>>} */
    const durations = await inTurn(count, /** @type {Required<Works>} */ (works), count);
    /** @param {number[] | undefined} list */
    const both = (list) =>
      list === undefined ? "–" : `${figure(minimum(list))} / ${figure(median(list))}`;
    /** @param {number[] | undefined} list */
    const of = (list) =>
      list === undefined
        ? "–"
        : `${ratio(minimum(durations.ours) / minimum(list))} / ${ratio(median(durations.ours) / median(list))}`;
    rows.push([
      what,
      both(durations.raw),
      both(durations.official),
      both(durations.dbhub),
      both(durations.ours),
      of(durations.official),
      of(durations.dbhub),
      of(durations.raw),
    ]);
  };
  /** @param {string} sql */
  const theirs = (sql) => () => official.call("query", { sql });
  /** @param {string} sql */
  const dbhubs = (sql) => () => dbhub.call("execute_sql", { sql });
  /** @param {string} sql */
  const mine =
    (sql, more = {}) =>
    () =>
      ours.call("query", { sql, ...more });
  /** @param {string} text */
  const driver = (text) => () => raw.query(text);

  await add("select 1", 1_000, {
    raw: driver("SELECT 1"),
    official: theirs("SELECT 1"),
    dbhub: dbhubs("SELECT 1"),
    ours: mine("SELECT 1"),
  });
  const some = "SELECT n, at FROM numbers ORDER BY n LIMIT 1000";
  await add("1,000 rows", 40, {
    raw: driver(some),
    official: theirs(some),
    dbhub: dbhubs(some),
    ours: mine(some, { max_rows: 1_000 }),
  });
  /** @param {() => unknown} call */
  const flight = (call) => () => Promise.all(Array.from({ length: 32 }, call));
  await add("32 in flight", 100, {
    raw: flight(driver("SELECT 1")),
    official: flight(theirs("SELECT 1")),
    dbhub: flight(dbhubs("SELECT 1")),
    ours: flight(mine("SELECT 1")),
  });
  const all = "SELECT * FROM numbers ORDER BY n";
  await add("100,000 rows requested; ours returns the first page", 5, {
    raw: driver(all),
    official: theirs(all),
    dbhub: dbhubs(all),
    ours: mine(all, { max_rows: 10_000 }),
  });
  const full = async () => {
    /** @type {string | undefined} */
    let cursor;
    do {
      const args = { sql: all, max_rows: 10_000, ...(cursor === undefined ? {} : { cursor }) };
      cursor = (await ours.call("query", args)).structuredContent["next_cursor"];
    } while (cursor !== undefined);
  };
  await add("the same, ours in pages", 1, { raw: driver(all), ours: full });
  await add("names of 1,000 tables, with the default limits", 20, {
    raw: driver("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"),
    ours: async () => {
      const { structuredContent } = await standard.call("pg_describe_tables", {
        detail: "names",
        limit: 1_000,
      });
      const count = structuredContent["names"].public.table.length;
      // One more than the 1,000: the table of numbers.
      if (count !== 1_000) throw new Error(`${count} names`);
    },
  });
  await add("description of one of 1,000 tables", 20, {
    raw: driver(
      "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 't500'",
    ),
    ours: () => ours.call("pg_describe_tables", { table: "t500" }),
  });
  await add("columns and keys of 1,000 tables", 10, {
    raw: driver(
      "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public'",
    ),
    ours: async () => {
      /** @type {string | undefined} */
      let cursor;
      do {
        const args = { limit: 1_000, ...(cursor === undefined ? {} : { cursor }) };
        cursor = (await ours.call("pg_describe_tables", args)).structuredContent["next_cursor"];
      } while (cursor !== undefined);
    },
  });
  const memory = [];
  for (const client of [official, dbhub, ours]) memory.push((await client.memory()).peak);
  const fresh = [
    await afterHundred([peer.node, entry, url]),
    await afterHundred(peer.dbhub(url), "execute_sql"),
    await afterHundred(program),
  ];
  /** @param {number[]} figures */
  const shares = ([first = 0, second = 0, own = 0]) => [
    ratio(own / first),
    ratio(own / second),
    "–",
  ];
  const [{ version: server }] = (
    await raw.query("SELECT current_setting('server_version') AS version")
  ).rows;
  report({
    title: "Milliseconds a call (minimum / median), and peak resident memory",
    columns: [
      "",
      `raw pg ${require("pg/package.json").version}, in process`,
      `official ${Object.values(OFFICIAL)[0]}, over stdio`,
      `DBHub ${peer.version}, over stdio`,
      "ours, over stdio",
      "of the official",
      "of DBHub",
      "of raw pg",
    ],
    rows: [
      ...rows,
      ["resident after 100 queries, MB", "–", ...fresh.map(figure), ...shares(fresh)],
      ["at its peak after all of the above, MB", "–", ...memory.map(figure), ...shares(memory)],
    ],
    notes: [
      `PostgreSQL ${server}. Ours runs with every guard: the parser's gate, limits, a read-only transaction that is rolled back, a session that is reset; the official server has none of them. Raw pg is the driver alone, in the benchmark's process.`,
      "Each line is measured after as many calls for warm-up.",
      "A read takes three round trips: BEGIN with what the gate looks up, the read, ROLLBACK. Limits and settings are made once per session: a read-only transaction that is rolled back can't change them. What a read can leave in its session, prepared statements and advisory locks, is removed after each that reaches code which somebody made. Behind a pooler, and after a change, the settings come with each transaction; DISCARD ALL follows a change, and behind a pooler only ROLLBACK.",
      ...peer.notes,
    ],
  });
  await official.close();
  await dbhub.close();
  await ours.close();
  await standard.close();
}

/** @param {import("pg").Client} raw @param {string} url */
const transfers = (raw, url) =>
  transferTable(
    "psql",
    ["Both use COPY; the time of psql includes its start."],
    async ({ folder, csv, out }) => {
      await raw.query(
        "CREATE TABLE items (id bigint PRIMARY KEY, name text, price float8, note text)",
      );
      const flags = ["--allow-privileged-role", "--allow-write", "--root", folder];
      const ours = await connect([(await sqlPeer()).node, BIN, "--url", url, ...flags]);
      /** @param {string} text */
      const psql = (text) => command("psql", [url, "-qc", text]);
      const sql = "SELECT * FROM items";
      return {
        empty: async () => {
          for (const statement of ["TRUNCATE items", "CHECKPOINT"]) await raw.query(statement);
        },
        works: {
          import: {
            theirs: () => psql(`\\copy items from '${csv}' csv header`),
            ours: () => ours.call("pg_import_csv", { path: csv, table: "items" }),
          },
          export: {
            theirs: () => psql(`\\copy (${sql}) to '${out}' csv header`),
            ours: () => ours.call("pg_export", { sql, path: out }),
          },
        },
        close: () => ours.close(),
      };
    },
  );

/** Resident memory of a new server after 100 queries, in MB. @param {string[]} argv */
async function afterHundred(argv, tool = "query") {
  const client = await connect(argv);
  for (let count = 0; count < 100; count++) await client.call(tool, { sql: "SELECT 1" });
  const { now } = await client.memory();
  await client.close();
  return now;
}

/** @param {string[]} argv */
async function connect(argv) {
  const client = new RawClient(argv);
  await client.initialize();
  return client;
}
