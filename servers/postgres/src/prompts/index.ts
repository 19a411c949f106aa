// Written by `pnpm generate`.
import exploreDatabase from "./explore-database.ts";
import reviewMigration from "./review-migration.ts";

export const prompts = [exploreDatabase, reviewMigration];
