import { fitting } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import { suggestIndexesTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { tryIndexes } from "../database/advice/trial.ts";
import { type Suggestion, suggestIndexes, suggestion } from "../database/advice/workload.ts";

export default tool({
  ...suggestIndexesTool,
  name: "pg_suggest_indexes",
  description:
    "Suggest indexes to create or drop, without changing anything. Tries indexes on a workload in a local copy of the schema, " +
    "reports the planner's cost before and after, and why other statements got none; also finds foreign keys without an index, redundant indexes and frequent full scans.",
  toolset: "dba",
  input: z.strictObject({
    queries: z
      .array(z.string())
      .max(50)
      .default([])
      .describe(
        "SELECT statements to optimize; $1 needs no value. Default: the most expensive ones in pg_stat_statements.",
      ),
    limit: fields.limit(20, 100),
    database,
  }),
  output: z.object({
    suggestions: z.array(suggestion),
    /** Statements without a new index. */
    unchanged: z.array(z.object({ query: z.string(), reason: z.string() })).optional(),
    notes: z.array(z.string()).optional(),
  }),
  async run({ queries, limit, database: name }, postgres, call) {
    const at = postgres.at(name);
    const work = { signal: call.signal };
    const tried = await tryIndexes(at, postgres.copyOf(at), queries, limit, work);
    const others = await suggestIndexes(at, limit, work);
    const isNew = ({ create }: Suggestion) =>
      create === undefined || tried.suggestions.every((one) => !begins(one.create, create));
    const all = [...tried.suggestions, ...others.filter(isNew)].slice(0, limit);
    const shown = all.slice(0, fitting(all, call.budget - 3_000));
    const { unchanged } = tried;
    const left = call.budget - 2_000 - JSON.stringify(shown).length;
    return {
      suggestions: shown,
      ...(unchanged.length === 0
        ? {}
        : { unchanged: unchanged.slice(0, fitting(unchanged, left)) }),
      ...(tried.notes.length === 0 ? {} : { notes: tried.notes }),
    };
  },
});

/** Whether an index begins with all columns of another one. */
function begins(wide = "", narrow: string): boolean {
  const columns = narrow.slice(0, -1);
  return wide === narrow || wide.startsWith(`${columns}, `);
}
