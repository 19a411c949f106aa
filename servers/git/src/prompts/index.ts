// Written by `pnpm generate`.
import commitMessage from "./commit-message.ts";
import releaseNotes from "./release-notes.ts";
import resolveConflicts from "./resolve-conflicts.ts";
import reviewChanges from "./review-changes.ts";
import summarizeChanges from "./summarize-changes.ts";

export const prompts = [commitMessage, releaseNotes, resolveConflicts, reviewChanges, summarizeChanges];
