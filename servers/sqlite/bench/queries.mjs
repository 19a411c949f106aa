// Queries through the server, compared with DBHub and the driver alone: one value, 1,000 rows, the first page and all pages of
// 100,000 rows, and an endless query that is killed while other calls continue. After a build it also runs by itself:
// node servers/sqlite/bench/queries.mjs
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import {
  command,
  figure,
  inTurn,
  median,
  minimum,
  RawClient,
  ratio,
  sqlPeer,
  transferTable,
} from "../../../scripts/lib/bench-kit.mjs";

/** @typedef {() => unknown} Work */

export const title = "SQLite: one value, 1,000 and 100,000 rows, an endless query";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const ROWS = 100_000;
const LIMIT_MS = 1_000;
const ALL = "SELECT id, name, price, note FROM items";
const ENDLESS =
  "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t";

/** @param {string} file */
function fill(file) {
  const database = new Sqlite(file);
  database.exec(`CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, note TEXT);
    WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < ${ROWS})
    INSERT INTO items SELECT n, 'item number ' || n, n * 0.25, CASE WHEN n % 3 = 0 THEN NULL ELSE 'a note on ' || n END FROM t`);
  database.close();
}

/** Reads all rows, page by page. @param {RawClient} client */
async function inFull(client) {
  let count = 0;
  /** @type {string | undefined} */
  let cursor;
  do {
    const args = { query: ALL, max_rows: 10_000, ...(cursor === undefined ? {} : { cursor }) };
    const { structuredContent } = await client.call("read_query", args);
    count += structuredContent["row_count"];
    cursor = structuredContent["next_cursor"];
  } while (cursor !== undefined);
  if (count !== ROWS) throw new Error(`got ${count} of ${ROWS} rows`);
}

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-sqlite-"));
  const file = join(folder, "items.db");
  fill(file);
  const raw = new Sqlite(file, { readonly: true });
  const large = ["--max-answer-chars", "80000"];
  const peer = await sqlPeer();
  const own = [peer.node, BIN, "--db-path", file];
  const client = new RawClient(own);
  const wide = new RawClient([...own, ...large]);
  const dbhub = new RawClient(peer.dbhub(`sqlite://${file}`));
  try {
    await Promise.all([client.initialize(), wide.initialize(), dbhub.initialize()]);
    /** @type {string[][]} */
    const rows = [];
    /** @param {string} sql */
    const all = (sql) => JSON.stringify(raw.prepare(sql).raw().all());
    /** @param {string} sql */
    const theirs = (sql) => () => dbhub.call("execute_sql", { sql });
    const selectOne = () => client.call("read_query", { query: "SELECT 1" });
    /** @param {() => unknown} call */
    const flight = (call) => () => Promise.all(Array.from({ length: 32 }, call));
    /** @type {(work: string, runs: number, alone: Work, ours: Work, dbhub?: Work) => Promise<void>} */
    const compare = async (work, runs, alone, ours, dbhub) => {
      /** @type {Record<string, Work>} */
      const works = { alone, ...(dbhub && { dbhub }), ours };
      const durations = await inTurn(runs, works, Math.min(runs, 20));
      /** @param {number[] | undefined} list */
      const both = (list) =>
        list === undefined ? "–" : `${figure(minimum(list))} / ${figure(median(list))}`;
      /** @param {number[] | undefined} list */
      const of = (list) =>
        list === undefined
          ? "–"
          : `${ratio(minimum(durations.ours) / minimum(list))} / ${ratio(median(durations.ours) / median(list))}`;
      rows.push([
        work,
        both(durations.alone),
        both(durations.dbhub),
        both(durations.ours),
        of(durations.alone),
        of(durations.dbhub),
      ]);
    };
    await compare("select 1", 1_001, () => all("SELECT 1"), selectOne, theirs("SELECT 1"));
    const byKey = "SELECT id, name, price, note FROM items WHERE id =";
    const params = [500];
    await compare(
      "one row by key",
      501,
      () => JSON.stringify(raw.prepare(`${byKey} ?`).raw().all(500)),
      () => client.call("read_query", { query: `${byKey} ?`, params }),
      theirs(`${byKey} 500`),
    );
    await compare(
      "32 in flight",
      101,
      flight(() => all("SELECT 1")),
      flight(selectOne),
      flight(theirs("SELECT 1")),
    );
    await compare(
      "1,000 rows",
      31,
      () => all(`${ALL} LIMIT 1000`),
      () => wide.call("read_query", { query: `${ALL} LIMIT 1000`, max_rows: 1_000 }),
      theirs(`${ALL} LIMIT 1000`),
    );
    await compare(
      "100,000 rows; ours returns the first page",
      5,
      () => all(ALL),
      () => client.call("read_query", { query: ALL }),
      theirs(ALL),
    );
    await compare(
      "100,000 rows; ours in all pages",
      5,
      () => all(ALL),
      () => inFull(wide),
    );
    report({
      title: "Milliseconds a call (minimum / median)",
      columns: [
        "work",
        "better-sqlite3 alone, as JSON",
        `DBHub ${peer.version}, over stdio`,
        "ours, over stdio",
        "of alone",
        "of DBHub",
      ],
      rows: [
        ...rows,
        ["resident after 100 queries, MB", "–", ...(await memories(dbhub, own)), "–", "–"],
      ],
      notes: [
        "Ours runs each statement in a separate process, which can be killed; DBHub and the driver run it in their own, with the SQLite of Node.js and of better-sqlite3. Our memory is that of the server plus that of its runner process.",
        "Of select 1, the round trip to the runner takes 0.02 to 0.07 ms, and checking that the database is still the same 0.01 ms.",
        ...peer.notes,
        "The official server is a Python program and not on npm.",
      ],
    });
    report(await transfers(peer.node));
    report(await endless(client));
    report(await blocked(dbhub, peer.version));
  } finally {
    raw.close();
    await Promise.all([client.close(), wide.close(), dbhub.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {string} node */
const transfers = (node) =>
  transferTable(
    "sqlite3",
    [
      "Ours keeps NULL and an empty string apart, and numbers exactly; sqlite3 imports NULL as an empty string and writes numbers with 15 digits.",
    ],
    async ({ folder, csv, out }) => {
      const files = { ours: join(folder, "ours.db"), theirs: join(folder, "theirs.db") };
      /** @param {"theirs" | "ours"} whose */
      const empty = (whose) => {
        const database = new Sqlite(files[whose]);
        database.exec(
          "DROP TABLE IF EXISTS items; VACUUM; CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, note TEXT)",
        );
        database.close();
      };
      const client = new RawClient([
        node,
        BIN,
        "--db-path",
        files.ours,
        "--allow-write",
        "--root",
        folder,
      ]);
      await client.initialize();
      /** @param {string[]} commands */
      const shell = (...commands) => command("sqlite3", [files.theirs, ...commands]);
      const sql = "SELECT * FROM items";
      return {
        empty,
        works: {
          import: {
            theirs: () => shell(`.import --csv --skip 1 ${csv} items`),
            ours: () => client.call("import_csv", { path: csv, table: "items" }),
          },
          export: {
            theirs: () => shell(".headers on", ".mode csv", `.once ${out}`, sql),
            ours: () => client.call("export", { sql, path: out }),
          },
        },
        close: () => client.close(),
      };
    },
  );

/**
 * Resident memory of DBHub and of a new process of our server after 100 queries, in MB.
 *
 * @param {RawClient} dbhub @param {string[]} command
 */
async function memories(dbhub, command) {
  const client = new RawClient(command);
  await client.initialize();
  for (let count = 0; count < 100; count++) await client.call("read_query", { query: "SELECT 1" });
  const pids = await readFile(
    `/proc/${client.child.pid}/task/${client.child.pid}/children`,
    "utf8",
  ).catch(() => "");
  let runners = 0;
  for (const pid of pids.trim().split(" ")) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    runners += Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1000;
  }
  const own = (await client.memory()).now;
  await client.close();
  return [figure((await dbhub.memory()).now), `${figure(own)} + ${figure(runners)}`];
}

/**
 * The endless query in DBHub, which never stops it: measured last, with a limit.
 *
 * @param {RawClient} dbhub @param {string} version
 */
async function blocked(dbhub, version) {
  const ends = dbhub.call("execute_sql", { sql: ENDLESS }).then(
    () => "yes",
    () => "yes",
  );
  const second = dbhub.call("execute_sql", { sql: "SELECT 1" }).then(
    () => "yes",
    () => "yes",
  );
  const late = new Promise((resolve) => setTimeout(() => resolve("no"), 5 * LIMIT_MS));
  const answers = await Promise.all([Promise.race([ends, late]), Promise.race([second, late])]);
  return {
    title: `The same in DBHub, within ${(5 * LIMIT_MS).toLocaleString("en-US")} ms`,
    columns: ["what", `DBHub ${version}`],
    rows: [
      ["the endless query was stopped", answers[0]],
      ["another call was answered", answers[1]],
    ],
  };
}

/** @param {RawClient} client */
async function endless(client) {
  const started = performance.now();
  let stopped = Number.NaN;
  const query = client.call("read_query", { query: ENDLESS, timeout_ms: LIMIT_MS }).then(
    () => {
      throw new Error("the endless query ended");
    },
    () => {
      stopped = performance.now() - started;
    },
  );
  /** @type {number[]} */
  const others = [];
  while (Number.isNaN(stopped)) {
    const began = performance.now();
    await client.call("read_query", { query: "SELECT 1" });
    others.push(performance.now() - began);
  }
  await query;
  others.sort((a, b) => a - b);
  return {
    title: `An endless query with a limit of ${LIMIT_MS.toLocaleString("en-US")} ms`,
    columns: ["what", "here"],
    rows: [
      ["stopped after, ms", figure(stopped)],
      ["other calls answered at the same time", figure(others.length)],
      ["one of them, median, ms", figure(median(others))],
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench({
    report: ({ title: name, columns, rows, notes = [] }) =>
      process.stdout.write(
        `\n${name}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n${notes.map((note) => `${note}\n`).join("")}`,
      ),
  });
}
