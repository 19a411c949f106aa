// Written by `pnpm generate`.
import officialSchema from "./official-schema.ts";
import tableSchema from "./table-schema.ts";

export const resources = [officialSchema, tableSchema];
