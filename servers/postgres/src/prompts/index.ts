// Written by `pnpm generate`.
import exploreDatabase from "./explore-database.ts";

export const prompts = [exploreDatabase];
