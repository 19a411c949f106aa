import { clip, fitCount, ToolError } from "@refmcp/boundary/answer";
import type { Session, Sessions, Work } from "../driver/sessions.ts";
import { paramsOf } from "../driver/values.ts";
import { passReading } from "../gate/read.ts";
import { parseSql, treeOf, walk } from "../gate/syntax.ts";
import { missingIndexes, type Scan } from "./hypothetical.ts";

interface Explaining extends Work {
  readonly sql: string;
  readonly params: readonly unknown[];
  readonly analyze: boolean;
  /** Maximum characters of the plan. */
  readonly budget: number;
}

const CONDITIONS = ["Index Cond", "Hash Cond", "Merge Cond", "Join Filter", "Filter"] as const;

/** The fields of an EXPLAIN (FORMAT JSON) node that we use. */
interface Node extends Readonly<Partial<Record<(typeof CONDITIONS)[number], string>>> {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Total Cost": number;
  readonly "Plan Rows": number;
  readonly "Actual Rows"?: number;
  readonly "Actual Loops"?: number;
  readonly "Actual Total Time"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Sort Key"?: readonly string[];
  readonly "Sort Space Type"?: string;
  readonly "Sort Space Used"?: number;
  readonly "Hash Batches"?: number;
  readonly Plans?: readonly Node[];
}

interface Explained {
  readonly Plan: Node;
  readonly "Planning Time"?: number;
  readonly "Execution Time"?: number;
}

/** A scan that reads or discards this many rows may need an index. */
const MANY_ROWS = 1_000;
/** Estimates that are off by more than this factor mislead the planner. */
const FAR_OFF = 10;

/**
 * The plan of a SELECT and its slow parts. With `analyze` the SELECT runs in a read-only transaction that is rolled back.
 *
 * @throws ToolError `denied` for anything but a SELECT
 */
export async function explain(sessions: Sessions, explaining: Explaining) {
  const { sql: query, params, analyze, budget, ...work } = explaining;
  const { kind, mentions } = await passReading(query);
  if (kind === "explain") throw notAQuery();
  const statement = `EXPLAIN (FORMAT JSON${analyze ? ", ANALYZE, BUFFERS" : ""}) ${query}`;
  // The combined text must still be one reading statement.
  await passReading(statement);
  const places = params.length > 0 || analyze ? 0 : await placesOf(query);
  const offset = (places > 0 ? preparing(query) : statement).length - query.length;
  return await sessions.work({ ...work, sql: query, offset }, async (session) => {
    await sessions.functions.requireHarmless(session.look, mentions);
    const planned = (text: string) =>
      places > 0 ? genericPlan(session, query, places) : explainedBy(session, text, params);
    const explained = await planned(statement);
    const { "Planning Time": planning, "Execution Time": execution } = explained;
    const nodes = nodesOf(explained.Plan);
    const scans = nodes.flatMap(({ "Node Type": type, "Relation Name": table, Filter: filter }) =>
      type.includes("Seq Scan") && table !== undefined && filter !== undefined
        ? [{ table, filter }]
        : [],
    );
    const missing = await missingIndexes(session, scans, async () => {
      const { Plan } = await planned(`EXPLAIN (FORMAT JSON) ${query}`);
      return new Set(nodesOf(Plan).flatMap((node) => node["Index Name"] ?? []));
    });
    const lines: string[] = [];
    const warnings: string[] = [];
    draw(explained.Plan, 0, lines, warnings, await rowsOf(session, scans));
    const hints = [...new Set(warnings)].slice(0, 10);
    const plan = lines.slice(0, fitCount(lines, budget - 1_000 - JSON.stringify(hints).length));
    return {
      plan,
      total_cost: explained.Plan["Total Cost"],
      ...(planning === undefined ? {} : { planning_ms: planning }),
      ...(execution === undefined ? {} : { execution_ms: execution }),
      ...(missing.length === 0 ? {} : { missing_indexes: missing }),
      warnings: hints,
      ...(plan.length < lines.length ? { omitted_lines: lines.length - plan.length } : {}),
    };
  });
}

const GENERIC = "refmcp_generic";
const preparing = (sql: string) => `PREPARE ${GENERIC} AS ${sql}`;

/**
 * The generic plan of a statement, which serves all values of its parameters. The setting for it ends with the transaction.
 *
 * @param sql a reading statement that the gate accepted
 * @param places the number of its parameters
 */
async function genericPlan(session: Session, sql: string, places: number): Promise<Explained> {
  await session.run("SET LOCAL plan_cache_mode = force_generic_plan");
  await asked(session, preparing(sql), []);
  const nulls = Array(places).fill("NULL").join(", ");
  const explain = `EXPLAIN (FORMAT JSON) EXECUTE ${GENERIC}(${nulls})`;
  const explained = await explainedBy(session, explain, []);
  await session.run(`DEALLOCATE ${GENERIC}`);
  return explained;
}

async function explainedBy(
  session: Session,
  statement: string,
  params: readonly unknown[],
): Promise<Explained> {
  const { rows } = await asked(session, statement, params);
  const [explained]: Explained[] = JSON.parse(rows[0]?.[0] ?? "[]");
  if (explained === undefined) throw notAQuery();
  return explained;
}

/** Over the extended protocol, which accepts only one statement. */
const asked = (session: Session, text: string, params: readonly unknown[]) =>
  session.query({ text, params: paramsOf(params) }, { chars: 16_777_216 });

/** The number of a statement's parameters: the highest $n. */
async function placesOf(sql: string): Promise<number> {
  let max = 0;
  walk(treeOf(await parseSql(sql)), (key, value) => {
    if (key === "ParamRef") max = Math.max(max, Number(treeOf(value).number ?? 0));
  });
  return max;
}

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** Row counts of the tables that a plan scans with a filter: a node's own estimate is after filtering. */
async function rowsOf(
  session: Session,
  scans: readonly Scan[],
): Promise<ReadonlyMap<string, number>> {
  if (scans.length === 0) return new Map();
  const rows = await session.rows<{ name: string; rows: number }>(
    "SELECT relname::text AS name, pg_catalog.max(reltuples)::float8 AS rows FROM pg_catalog.pg_class WHERE relname = ANY($1::name[]) AND relkind IN ('r', 'm') GROUP BY 1",
    [scans.map(({ table }) => table)],
  );
  return new Map(rows.map(({ name, rows: count }) => [name, count]));
}

function draw(
  node: Node,
  depth: number,
  lines: string[],
  warnings: string[],
  scanned: ReadonlyMap<string, number>,
): void {
  const on = node["Relation Name"] === undefined ? "" : ` on ${node["Relation Name"]}`;
  const using = node["Index Name"] === undefined ? "" : ` using ${node["Index Name"]}`;
  const actual =
    node["Actual Rows"] === undefined
      ? ""
      : `; actual ${rounded(node["Actual Rows"] * (node["Actual Loops"] ?? 1))} rows, ${rounded((node["Actual Total Time"] ?? 0) * (node["Actual Loops"] ?? 1))} ms`;
  const conditions = CONDITIONS.flatMap((key) =>
    node[key] === undefined ? [] : [`${key.toLowerCase()} ${node[key]}`],
  );
  const sort = node["Sort Key"] === undefined ? [] : [`by ${node["Sort Key"].join(", ")}`];
  const details = [...sort, ...conditions].map((detail) => `; ${detail}`).join("");
  const line = `${"  ".repeat(depth)}${node["Node Type"]}${using}${on} (cost ${rounded(node["Total Cost"])}, ${rounded(node["Plan Rows"])} rows${actual})${details}`;
  lines.push(clip(line, 500));
  warnings.push(...warningsOf(node, scanned));
  for (const child of node.Plans ?? []) draw(child, depth + 1, lines, warnings, scanned);
}

function* warningsOf(node: Node, scanned: ReadonlyMap<string, number>): Generator<string> {
  const table = node["Relation Name"];
  const loops = node["Actual Loops"] ?? 1;
  const actual = node["Actual Rows"];
  if (node["Node Type"].includes("Seq Scan") && node.Filter !== undefined && table !== undefined) {
    const matches = actual === undefined ? node["Plan Rows"] : actual * loops;
    const removed = (node["Rows Removed by Filter"] ?? 0) * loops;
    const read = Math.max(scanned.get(table) ?? 0, matches + removed);
    if (read >= MANY_ROWS && matches <= read / 2)
      yield `All ${rounded(read)} rows of ${table} are read to find ${rounded(matches)} by ${clip(node.Filter, 200)}: an index on the filtered columns may help.`;
  }
  const planned = Math.max(1, node["Plan Rows"]);
  if (actual !== undefined && loops > 0) {
    const off = Math.max(actual, 1) / planned;
    if ((off >= FAR_OFF || off <= 1 / FAR_OFF) && Math.max(actual, planned) >= MANY_ROWS)
      yield `${node["Node Type"]}${table === undefined ? "" : ` on ${table}`}: ${rounded(planned)} rows were expected, but there were ${rounded(actual)}. ANALYZE${table === undefined ? "" : ` ${table}`} may help.`;
  }
  if (node["Sort Space Type"] === "Disk")
    yield `A sort spilled to disk (${node["Sort Space Used"]} kB): raise work_mem, or add an index in that order.`;
  if ((node["Hash Batches"] ?? 1) > 1) yield "A hash did not fit in work_mem and spilled to disk.";
  if (
    node["Node Type"] === "Nested Loop" &&
    node["Join Filter"] !== undefined &&
    node["Plan Rows"] >= MANY_ROWS
  )
    yield `A nested loop compares all pairs by ${clip(node["Join Filter"], 200)}: an index on the inner side may help.`;
}

const rounded = (value: number) =>
  String(value >= 100 ? Math.round(value) : Math.round(value * 100) / 100);

const notAQuery = () =>
  new ToolError("invalid", "The query already has an EXPLAIN.", {
    hint: "Pass only the SELECT; set analyze to run it.",
  });
