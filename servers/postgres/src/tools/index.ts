// Written by `pnpm generate`.
import health from "./health.ts";
import topQueries from "./top-queries.ts";

export const tools = [health, topQueries];
