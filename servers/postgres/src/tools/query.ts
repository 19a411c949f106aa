import { cursorsOf } from "@refmcp/core/answer";
import * as fields from "@refmcp/core/fields";
import { answerOf, FORMATS, queryOutput, STANDARD_ROWS } from "@refmcp/sql";
import * as z from "zod";
import { database, params, showing, timeoutMs, tool } from "../context.ts";
import { withNearNames } from "../database/reading/near.ts";

const place = z.object({ offset: z.int().min(1), mark: z.string() });

export default tool({
  name: "query",
  title: "Query",
  description:
    "Run one read-only SQL statement: SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN. " +
    "It runs in a read-only transaction that is rolled back. For changes see pg_execute, for many rows pg_export.",
  effect: "read",
  openWorld: false,
  toolset: "data",
  input: z.strictObject({
    sql: z.string().describe("One statement: SELECT name FROM users WHERE id = $1."),
    params,
    max_rows: z.int().min(1).max(10_000).default(STANDARD_ROWS).describe("Rows at most, 1 to 10000."),
    cursor: fields.cursor,
    timeout_ms: timeoutMs,
    format: z.enum(FORMATS).default("rows").describe("rows: arrays in the order of columns."),
    database,
  }),
  output: queryOutput,
  async run({ sql, params, max_rows, cursor, timeout_ms, format, database: name }, postgres, call) {
    const at = postgres.at(name);
    const cursors = cursorsOf("query", [sql, params, at.database.name], place);
    const { maxRows, maxBytes } = postgres.limits;
    const { show, fitting, hasCut, remarks } = showing(postgres, call, format);
    const started = performance.now();
    const work = { signal: call.signal, timeoutMs: timeout_ms };
    const page = await at.reader
      .read({
        ...work,
        sql,
        params,
        caps: { rows: Math.min(max_rows, maxRows), bytes: maxBytes },
        show,
        fitting,
        from: cursors.decode(cursor),
      })
      .catch(async (error: unknown) => {
        throw await withNearNames(error, at.database, work);
      });
    return answerOf({
      columns: page.columns,
      rows: page.rows,
      format,
      stopped: page.stopped,
      cut: hasCut(),
      nextCursor: page.next === undefined ? undefined : cursors.encode(page.next),
      elapsedMs: performance.now() - started,
      notices: remarks(page.notices),
    });
  },
});
