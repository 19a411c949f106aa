import { fitCount } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { ORDERS, topQueries, topQuery } from "../database/explain/workload.ts";

export default tool({
  name: "pg_top_queries",
  title: "Top queries",
  description:
    "List the most expensive statements, from pg_stat_statements. " +
    "Constants are shown as $1, $2. For the plan of one call pg_explain.",
  effect: "read",
  openWorld: false,
  toolset: "dba",
  input: z.strictObject({
    order_by: z
      .enum(ORDERS)
      .default("total_time")
      .describe("Rank by time (total_time, mean_time), calls, rows or io (blocks)."),
    limit: fields.limit(10, 100),
    database,
  }),
  output: z.object({
    queries: z.array(topQuery),
    omitted: z.number().optional(),
    note: z.string().optional(),
  }),
  async run({ order_by, limit, database: name }, postgres, call) {
    const { sessions } = await postgres.at(name);
    const { queries: all, note } = await topQueries(sessions, order_by, limit, {
      signal: call.signal,
    });
    const queries = all.slice(0, fitCount(all, call.budget - 500));
    return {
      queries,
      ...(queries.length < all.length ? { omitted: all.length - queries.length } : {}),
      ...(note === undefined ? {} : { note }),
    };
  },
});
