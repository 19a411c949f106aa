import { type Question, STANDARD_ROWS } from "@refmcp/sql";
import type { Postgres } from "../connection/postgres.ts";
import { withNearNames } from "./near.ts";
import { readAhead } from "./reading.ts";

/**
 * Runs one reading statement and returns a page of its rows, as the JSON text of `queryOutput`.
 *
 * @throws ToolError from the gate, PostgreSQL, the limits or the cursor.
 */
export async function readPage(postgres: Postgres, question: Question): Promise<string> {
  const { sql, params, format, cursor, budget, signal, timeoutMs } = question;
  const database = postgres.at(question.database);
  const { maxRows, maxBytes, maxCellBytes: cellBytes } = postgres.limits;
  const work = { signal, timeoutMs };
  return await postgres.results.page({
    list: "query",
    query: [sql, params, database.name, format],
    cursor,
    format,
    maxRows: Math.min(question.maxRows ?? STANDARD_ROWS, maxRows),
    maxBytes,
    budget,
    async read(ahead) {
      const reading = readAhead(database, { ...work, sql, params, format, cellBytes }, ahead);
      const window = await withNearNames(reading, database, sql, work);
      return { ...window, notices: remarks(window.notices ?? []) };
    },
  });
}

/** PostgreSQL's notices, shortened. */
export const remarks = (all: readonly string[]) => all.map((one) => one.slice(0, 300)).slice(0, 5);
