// Written by `pnpm generate`.
import rows from "./rows.ts";
import schema from "./schema.ts";

export const resources = [rows, schema];
