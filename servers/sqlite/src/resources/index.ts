// Written by `pnpm generate`.
import blob from "./blob.ts";
import insights from "./insights.ts";
import rows from "./rows.ts";
import schema from "./schema.ts";

export const resources = [blob, insights, rows, schema];
