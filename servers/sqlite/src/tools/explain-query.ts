import * as z from "zod";
import { database, params, statement, tool } from "../context.ts";
import { explain } from "../database/advice/explain.ts";
import { passReading } from "../database/gate/gate.ts";
import { paramsOf } from "../database/gate/params.ts";
import { nullsFor } from "../database/gate/places.ts";

export default tool({
  name: "explain_query",
  title: "Explain query",
  description:
    "Show how SQLite would run a SELECT, without running it: plan, full scans and missing indexes. missing_indexes are CREATE INDEX statements that SQLite would use; table sizes are not considered.",
  effect: "read",
  openWorld: false,
  argumentAliases: { query: "sql" },
  input: z.strictObject({ sql: statement("SELECT * FROM users WHERE name = ?"), params, database }),
  output: z.object({
    plan: z.array(z.string()),
    full_scans: z.array(z.string()),
    missing_indexes: z.array(z.string()),
  }),
  run({ sql, params, database }, databases, { signal }) {
    passReading(sql);
    const bound = paramsOf(sql, params.length === 0 ? nullsFor(sql) : params);
    return explain({ databases, database, signal }, { sql, params: bound });
  },
});
