import { toolFor } from "@refmcp/core";
import * as z from "zod";
import type { Databases, Kind } from "../databases.ts";
import { database, offered, params, statement } from "./fields.ts";

export const explainTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.explain,
    title: "Explain query",
    description: `Show how ${kind.title} would run a SELECT, without running it: its plan, what makes it slow and which index would help.${kind.analyzes ? " analyze runs it in a read-only transaction and adds actual rows and times." : ""} Without params, the plan does not depend on values.`,
    effect: "read",
    openWorld: false,
    aliases: kind.aliases.explain ?? [],
    argumentAliases: { query: "sql" },
    input: z.strictObject({
      sql: statement("the SELECT, without EXPLAIN"),
      params: params(kind),
      ...offered(kind.analyzes, {
        analyze: z.boolean().optional().describe("Run it and measure."),
      }),
      database: database(kind),
    }),
    output: z.object({
      /** One indented line for each node. */
      plan: z.array(z.string()),
      full_scans: z.array(z.string()).optional(),
      missing_indexes: z.array(z.string()).optional(),
      total_cost: z.number().optional(),
      planning_ms: z.number().optional(),
      execution_ms: z.number().optional(),
      /** What makes it slow, and what would help. */
      warnings: z.array(z.string()).optional(),
      /** Lines of the plan that were left out. */
      omitted_lines: z.number().optional(),
    }),
    async run({ sql, params, analyze = false, database }, databases, { signal, budget }) {
      const at = await databases.at(database);
      return await at.explain({ sql, params, analyze, budget, signal });
    },
  });
