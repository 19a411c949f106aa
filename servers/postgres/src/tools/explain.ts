import { explainTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, params, timeoutMs, tool } from "../context.ts";
import { explain, planOutput } from "../database/advice/explain.ts";
import { withNearNames } from "../database/reading/near.ts";

export default tool({
  ...explainTool,
  name: "pg_explain",
  description:
    "Show the plan of a SELECT and its slow parts. " +
    "analyze runs it in a read-only transaction and adds actual rows and milliseconds. $1 without params gives the generic plan.",
  toolset: "data",
  input: z.strictObject({
    sql: z.string().describe("The SELECT, without EXPLAIN."),
    params,
    analyze: z.boolean().default(false).describe("Run it and measure; not by default."),
    timeout_ms: timeoutMs,
    database,
  }),
  output: planOutput,
  async run({ sql, params, analyze, timeout_ms, database: name }, postgres, call) {
    const at = postgres.at(name);
    const work = { signal: call.signal, timeoutMs: timeout_ms };
    const explaining = { ...work, query: sql, params, analyze, budget: call.budget };
    return await withNearNames(explain(at, explaining), at, sql, work);
  },
});
