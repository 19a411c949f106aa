import { encodeRow } from "@refmcp/sql";
import type { Postgres } from "../connection/postgres.ts";
import { withNearNames } from "../reading/near.ts";
import { remarks } from "../reading/page.ts";
import { type Writing, type Written, write } from "./writing.ts";

export interface Run extends Pick<Writing, "statements" | "dryRun" | "timeoutMs"> {
  /** Name of the database; default: the first. */
  readonly database: string | undefined;
}

/** What changes need from their call. */
interface Calling extends Pick<Writing, "signal" | "confirm"> {
  readonly budget: number;
}

/**
 * Runs changing statements in one transaction and reports what they did, as `changeOutput`.
 *
 * @throws ToolError from the gate or PostgreSQL, or if the user declines; nothing is changed then.
 */
export async function runChanges(postgres: Postgres, { database, ...run }: Run, call: Calling) {
  const at = postgres.at(database);
  const { maxBytes, maxCellBytes } = postgres.limits;
  const { signal, budget } = call;
  const writing = { ...run, signal, maxBytes, confirm: (loss: string) => call.confirm(loss) };
  const sql = run.statements.map((one) => one.sql).join(" ");
  const written = await withNearNames(write(at, writing), at, sql, writing);
  return shownWriting(written, remarks(written.notices), budget, maxCellBytes);
}

/**
 * The answer for a change. Rows of RETURNING share the space that the rest leaves.
 *
 * @param said PostgreSQL's notices
 * @param budget characters of the answer
 */
function shownWriting(written: Written, said: string[], budget: number, maxCellBytes: number) {
  const { committed, outcomes, loss, undo, tables } = written;
  const cut = { count: 0 };
  // Everything else in the answer comes first; rows of RETURNING share the remaining space.
  let space = budget - 500 - JSON.stringify([tables, loss, undo, said]).length;
  let isShort = false;
  const results = outcomes.map(({ command, rowCount, columns, rows }) => {
    const facts = { command, ...(rowCount === undefined ? {} : { row_count: rowCount }) };
    space -= JSON.stringify([facts, columns]).length + 30;
    if (columns.length === 0) return facts;
    const shown: unknown[][] = [];
    for (const row of rows) {
      const encoded = encodeRow(row, maxCellBytes, cut);
      space -= JSON.stringify(encoded).length + 1;
      if (space < 0) break;
      shown.push(encoded);
    }
    isShort ||= shown.length < (rowCount ?? rows.length);
    return { ...facts, columns: [...columns], rows: shown };
  });
  const by = isShort ? ("bytes" as const) : cut.count > 0 ? ("cell" as const) : undefined;
  return {
    committed,
    results,
    tables: tables.map(({ id: _, readable: __, ...table }) => table),
    ...(loss === undefined ? {} : { loss }),
    ...(undo.length === 0 ? {} : { undo: [...undo] }),
    truncated: by !== undefined,
    ...(by === undefined ? {} : { truncated_by: by }),
    ...(said.length === 0 ? {} : { notices: said }),
  };
}
