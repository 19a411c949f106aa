// Written by `pnpm generate`.
import commitMessage from "./commit-message.ts";
import reviewChanges from "./review-changes.ts";

export const prompts = [commitMessage, reviewChanges];
