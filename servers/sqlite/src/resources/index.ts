// Written by `pnpm generate`.
import rows from "./rows.ts";
import schema from "./schema.ts";
import status from "./status.ts";

export const resources = [rows, schema, status];
