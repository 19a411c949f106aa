// Written by `pnpm generate`.
import officialSchema from "./official-schema.ts";
import row from "./row.ts";
import tableSchema from "./table-schema.ts";

export const resources = [officialSchema, row, tableSchema];
