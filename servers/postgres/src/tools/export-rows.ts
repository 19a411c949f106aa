import { exported, exportFormat, exportTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, timeoutMs, tool } from "../context.ts";
import { withNearNames } from "../database/reading/near.ts";
import { exportRows } from "../database/transfer/transfer.ts";

export default tool({
  ...exportTool,
  name: "pg_export",
  description:
    "Write all rows of a SELECT to a new file in an allowed directory, however many there are. " +
    "The file is created complete or not at all. To look at some rows use query.",
  toolset: "data",
  input: z.strictObject({
    sql: z.string().describe("One SELECT without params, for example SELECT * FROM users."),
    path: z.string().describe("New file: absolute, or relative to an allowed directory."),
    format: exportFormat,
    timeout_ms: timeoutMs.describe("Shorter time limit without progress, in milliseconds."),
    database,
  }),
  async run({ sql, path, format, timeout_ms, database: name }, postgres, call) {
    const at = postgres.at(name);
    const work = { signal: call.signal, timeoutMs: timeout_ms };
    const progress = (bytes: number) => call.progress(bytes, undefined, "bytes written");
    const exporting = exportRows(at, postgres.guard, {
      ...work,
      query: sql,
      path,
      format,
      progress,
    });
    return exported(await withNearNames(exporting, at, sql, work), format);
  },
});
