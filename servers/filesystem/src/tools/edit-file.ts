import * as z from "zod";
import { expectedHash, journaled, journalFacts, path, tool } from "../context.ts";

/** Characters of an answer that the facts beside the diff may take. */
const FACTS_CHARS = 1500;

export default tool({
  name: "edit_file",
  title: "Edit file",
  description:
    "Replace parts of a text file by exact text, all edits or none; answers the diff. " +
    "Each oldText has to occur exactly once, unless replace_all is set. Encoding and line ends stay.",
  effect: "change",
  openWorld: false,
  input: z.strictObject({
    path,
    edits: z
      .array(
        z.strictObject({
          oldText: z.string().describe("Exact text, without line numbers."),
          newText: z.string().describe("Its replacement."),
        }),
      )
      .min(1)
      .max(1000)
      .describe("Done in turn, each on the result of those before."),
    dryRun: z.boolean().default(false).describe("Only show the diff."),
    replace_all: z.boolean().default(false).describe("Replace every occurrence."),
    expected_hash: expectedHash,
  }),
  // Data, not text (rule 15): the caller knows the change, which is its own. What it needs back is hash, counts and
  // the id to undo it; the diff is there to check them against, and is short.
  output: z.object({
    path: z.string(),
    dry_run: z.boolean().optional(),
    diff: z.string(),
    hidden_hunks: z.number().optional(),
    lines_added: z.number(),
    lines_removed: z.number(),
    replacements: z.number(),
    hash: z.string(),
    ...journaled,
  }),
  async run({ path, edits, dryRun, replace_all, expected_hash }, files, call) {
    const edited = await files.edit({
      path,
      edits,
      dryRun,
      replaceAll: replace_all,
      expectedHash: expected_hash,
      maxChars: call.budget - FACTS_CHARS,
      signal: call.signal,
    });
    return {
      path: edited.path,
      dry_run: dryRun || undefined,
      diff: edited.diff,
      hidden_hunks: edited.hiddenHunks === 0 ? undefined : edited.hiddenHunks,
      lines_added: edited.added,
      lines_removed: edited.removed,
      replacements: edited.replacements,
      hash: edited.hash,
      ...journalFacts(edited.receipt),
    };
  },
});
