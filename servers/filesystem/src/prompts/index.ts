// Written by `pnpm generate`.
import exploreDirectory from "./explore-directory.ts";
import reviewRecentChanges from "./review-recent-changes.ts";

export const prompts = [exploreDirectory, reviewRecentChanges];
