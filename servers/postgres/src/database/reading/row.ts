import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Work } from "../connection/database.ts";
import type { Postgres } from "../connection/postgres.ts";
import { describeTable } from "./describe.ts";
import { readPage } from "./reading.ts";

interface Keyed {
  readonly schema: string;
  readonly table: string;
}

/** Keys among which a completion looks: the first ones. */
const LOOKED_AT = 10_000;

/** The table and the columns of its primary key, in SQL form. */
async function keyOf(postgres: Postgres, { schema, table }: Keyed, work: Work) {
  const found = await describeTable(postgres.at(), table, schema, work);
  const { primary_key: key } = found;
  if (key !== undefined) return { from: `${found.schema}.${found.table}`, key };
  throw new ToolError(
    "invalid",
    `${oneLine(found.table)} has no primary key, so its rows have no URI.`,
    {
      hint: "Call query to see its rows.",
    },
  );
}

/** The values of a key: the text itself, or for several columns a JSON array. */
function valuesOf(text: string, key: readonly string[]): unknown[] {
  if (key.length === 1) return [text];
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    values = undefined;
  }
  if (Array.isArray(values) && values.length === key.length) return values;
  throw new ToolError(
    "invalid",
    `${JSON.stringify(text.slice(0, 100))} is not a key of this table.`,
    {
      hint: `The URI ends with the percent-encoded JSON array of ${key.map(oneLine).join(", ")}: [1,"a"].`,
    },
  );
}

/**
 * One row by its primary key, as `query` returns it: through the same checks, and with the same limits.
 *
 * @param key the value, or a JSON array of the values of several columns
 * @throws ToolError `not_found` for a table or row, `invalid` for a table or value that has no key
 */
export async function readRow(
  postgres: Postgres,
  asked: Keyed & { readonly key: string },
  { signal, budget }: { readonly signal: AbortSignal; readonly budget: number },
): Promise<string> {
  const { from, key } = await keyOf(postgres, asked, { signal });
  const where = key.map((column, at) => `${column} = $${at + 1}`).join(" AND ");
  const sql = `SELECT * FROM ${from} WHERE ${where}`;
  const params = valuesOf(asked.key, key);
  const answer = await readPage(postgres, {
    sql,
    params,
    maxRows: 1,
    format: "rows",
    database: undefined,
    budget,
    signal,
  });
  if (JSON.parse(answer).row_count > 0) return answer;
  throw new ToolError(
    "not_found",
    `${from} has no row ${JSON.stringify(asked.key.slice(0, 100))}.`,
    {
      hint: "Call query to see its rows.",
    },
  );
}

/** Keys that begin with a text, among the first ones of the table, as `readRow` takes them. */
export async function keysBeginning(
  postgres: Postgres,
  table: Keyed,
  prefix: string,
  work: Work,
): Promise<string[]> {
  const { from, key } = await keyOf(postgres, table, work);
  const list = key.join();
  const sql = `SELECT * FROM (SELECT ${key.length === 1 ? list : `pg_catalog.jsonb_build_array(${list})`}::text AS key
    FROM ${from} ORDER BY ${list} LIMIT ${LOOKED_AT}) k WHERE pg_catalog.starts_with(k.key, $1) LIMIT 100`;
  const answer = await readPage(postgres, {
    ...work,
    sql,
    params: [prefix],
    maxRows: 100,
    format: "rows",
    database: undefined,
    budget: 20_000,
  });
  const { rows }: { rows: [string][] } = JSON.parse(answer);
  return rows.map(([one]) => one);
}
