import { fitting } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import { suggestIndexesTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { suggestIndexes, suggestion } from "../database/advice/workload.ts";

export default tool({
  ...suggestIndexesTool,
  name: "pg_suggest_indexes",
  description:
    "Find foreign keys without an index, redundant indexes and frequent full scans. Nothing is changed.",
  toolset: "dba",
  input: z.strictObject({ limit: fields.limit(20, 100), database }),
  output: z.object({ suggestions: z.array(suggestion) }),
  async run({ limit, database: name }, postgres, call) {
    const all = await suggestIndexes(postgres.at(name), limit, { signal: call.signal });
    return { suggestions: all.slice(0, fitting(all, call.budget - 3_000)) };
  },
});
