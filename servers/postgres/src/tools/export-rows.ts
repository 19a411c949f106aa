import { pathToFileURL } from "node:url";
import { withLinks } from "@refmcp/core";
import * as z from "zod";
import { count, database, timeoutMs, tool } from "../context.ts";
import { withNearNames } from "../database/reading/near.ts";
import { exportRows, FORMATS } from "../database/transfer/transfer.ts";

export default tool({
  name: "pg_export",
  title: "Export rows",
  description:
    "Write all rows of a SELECT to a new file in an allowed directory, however many there are. " +
    "The file is created complete or not at all. To look at some rows use query.",
  effect: "add",
  openWorld: false,
  argumentAliases: { query: "sql" },
  toolset: "data",
  input: z.strictObject({
    sql: z.string().describe("One SELECT, without params."),
    path: z.string().describe("New file: absolute, or relative to an allowed directory."),
    format: z.enum(FORMATS).default("csv").describe("csv with a header line, or jsonl."),
    timeout_ms: timeoutMs,
    database,
  }),
  output: z.object({ path: z.string(), format: z.string(), rows: count, bytes: count }),
  async run({ sql, path, format, timeout_ms, database: name }, postgres, call) {
    const at = postgres.at(name);
    const work = { signal: call.signal, timeoutMs: timeout_ms };
    const progress = (bytes: number) => call.progress(bytes, undefined, "bytes written");
    const exporting = exportRows(at, postgres.guard, { ...work, query: sql, path, format, progress });
    const { path: written, rows, bytes } = await withNearNames(exporting, at, sql, work);
    const mimeType = format === "csv" ? "text/csv" : "application/jsonl";
    return withLinks({ path: written, format, rows, bytes }, [
      { uri: pathToFileURL(written).href, name: written, mimeType, size: bytes },
    ]);
  },
});
