// Written by `pnpm generate`.
import blob from "./blob.ts";
import rows from "./rows.ts";
import schema from "./schema.ts";
import status from "./status.ts";

export const resources = [blob, rows, schema, status];
