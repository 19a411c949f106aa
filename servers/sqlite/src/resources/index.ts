// Written by `pnpm generate`.
import blob from "./blob.ts";
import insights from "./insights.ts";
import rows from "./rows.ts";
import schema from "./schema.ts";
import status from "./status.ts";

export const resources = [blob, insights, rows, schema, status];
