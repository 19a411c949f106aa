// The index advice on workloads that another advisor is tested with: the planner's cost without new indexes, with the
// indexes that its tests look for, and with those that ours suggests.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { figure, RawClient } from "../../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";
import { testPostgres } from "./lib/test-postgres.mjs";
import { SOURCE, WORKLOADS } from "./lib/workloads.mjs";

/** @typedef {import("pg").Client} Client */
/** @typedef {import("./lib/workloads.mjs").Workload} Workload */

export const title = "index advice";

const BIN = join(ROOT, "servers", "postgres", "dist", "bin.js");
const require = createRequire(join(ROOT, "servers", "postgres", "package.json"));

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const { startPostgres } = await testPostgres();
  const { default: pg } = await import(pathToFileURL(require.resolve("pg")).href);
  const postgres = await startPostgres();
  const rows = [];
  try {
    for (const [name, workload] of Object.entries(WORKLOADS)) {
      const url = await postgres.createDatabase();
      const raw = new pg.Client({ connectionString: url });
      await raw.connect();
      await raw.query(`${workload.setup}; ANALYZE`);
      rows.push([name, ...(await compare(raw, url, workload))]);
      await raw.end();
    }
  } finally {
    await postgres.stop();
  }
  report({
    title: "The planner's cost of all statements, with real indexes",
    columns: ["workload", "without", "expected there", "ours", "our indexes"],
    rows,
    notes: [
      `The workloads and the expected indexes are those of the index tests in ${SOURCE}. The costs are those of the real tables with real indexes; ours come from a copy of the schema without rows. Each statement counts once.`,
    ],
  });
}

/** @type {(raw: Client, url: string, workload: Workload) => Promise<string[]>} */
async function compare(raw, url, { queries, expected, unwanted = [] }) {
  const client = new RawClient([
    process.execPath,
    BIN,
    ...["--url", url, "--allow-privileged-role", "--toolsets", "dba"],
  ]);
  await client.initialize();
  const { structuredContent } = await client.call("pg_suggest_indexes", { queries });
  /** @type {{ create: string, cost_after?: number }[]} */
  const suggestions = structuredContent["suggestions"];
  await client.close();
  const ours = suggestions.flatMap(({ create, cost_after }) =>
    cost_after === undefined ? [] : [create.replace(/^.* ON /, "")],
  );
  const costs = [];
  for (const indexes of [[], expected, ours]) costs.push(await costWith(raw, queries, indexes));
  const listed = ours.map((index) => `\`${index}\``).join(", ") || "none helps";
  const bad = ours.filter((index) =>
    unwanted.some((column) => new RegExp(`\\b${column}\\b`).test(index)),
  );
  return [
    ...costs.map(figure),
    bad.length === 0 ? listed : `${listed}; unwanted there: ${bad.join(", ")}`,
  ];
}

/** @param {Client} raw @param {string[]} queries @param {string[]} indexes */
async function costWith(raw, queries, indexes) {
  await raw.query("BEGIN");
  for (const index of indexes) await raw.query(`CREATE INDEX ON ${index}`);
  let total = 0;
  for (const query of queries) {
    const { rows } = await raw.query(`EXPLAIN (FORMAT JSON) ${query}`);
    total += rows[0]["QUERY PLAN"][0].Plan["Total Cost"];
  }
  await raw.query("ROLLBACK");
  return total;
}
