// Written by `pnpm generate`.
import exploreDatabase from "./explore-database.ts";
import optimiseQuery from "./optimise-query.ts";
import reviewMigration from "./review-migration.ts";
import writeQuery from "./write-query.ts";

export const prompts = [exploreDatabase, optimiseQuery, reviewMigration, writeQuery];
