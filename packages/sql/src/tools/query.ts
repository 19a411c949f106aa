import { JsonText, ToolError } from "@refmcp/boundary/answer";
import { toolFor } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { FORMATS } from "../answer/formats.ts";
import { readPage, STANDARD_ROWS } from "../answer/results.ts";
import type { Databases, Kind } from "../databases.ts";
import { column, database, params, statement } from "./fields.ts";

/** The answer of a query. */
export const queryOutput = z.object({
  columns: z.array(column),
  rows: z.array(z.array(z.unknown())).optional(),
  text: z.string().optional(),
  row_count: z.number(),
  truncated: z.boolean(),
  truncated_by: z.enum(["rows", "bytes", "cell"]).optional(),
  next_cursor: z.string().optional(),
  elapsed_ms: z.number(),
  notices: z.array(z.string()).optional(),
});

export const queryTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.query,
    title: "Query",
    description: `Run one read-only statement and get its rows, typed and bounded: ${kind.reads}. Pass values as params. For changes call ${kind.names.execute}, for many rows ${kind.names.export}.`,
    effect: "read",
    openWorld: false,
    view: "rows",
    aliases: kind.aliases.query ?? [],
    argumentAliases: { query: "sql" },
    input: z.strictObject({
      sql: statement(kind.example),
      params: params(kind),
      max_rows: z
        .int()
        .min(1)
        .max(10_000)
        .default(STANDARD_ROWS)
        .describe(`Maximum rows; default ${STANDARD_ROWS}.`),
      cursor: fields.cursor,
      format: z.enum(FORMATS).default("rows").describe("rows: JSON arrays; csv: text."),
      timeout_ms: fields.timeoutMs(30_000, 3_600_000),
      database: database(kind),
    }),
    output: queryOutput,
    async run({ max_rows: maxRows, timeout_ms: timeoutMs, ...question }, databases, call) {
      const { budget, signal } = call;
      try {
        return new JsonText(
          await readPage(databases, { ...question, maxRows, timeoutMs, budget, signal }),
        );
      } catch (error) {
        if (error instanceof ToolError && error.kind === "timeout")
          call.log("warning", error.message);
        throw error;
      }
    },
  });
