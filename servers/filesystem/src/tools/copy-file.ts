import * as z from "zod";
import { journaled, journalFacts, path, tool } from "../context.ts";
import { describe } from "../files/change/delete.ts";

/** Paths of things that were not copied, at most so many in an answer. */
const MOST_SKIPPED = 50;

/** The first paths, and how many more there are. */
function some(paths: readonly string[]): string[] | undefined {
  if (paths.length === 0) return undefined;
  const more = paths.length - MOST_SKIPPED;
  return more > 0 ? [...paths.slice(0, MOST_SKIPPED), `… and ${more} more`] : [...paths];
}

export default tool({
  name: "copy_file",
  title: "Copy",
  description:
    "Copy a file, or a directory with everything below it. destination is the path of the copy itself. " +
    "Links that lead out of the allowed directories are skipped.",
  effect: "change",
  openWorld: false,
  input: z.strictObject({
    source: path,
    destination: path,
    overwrite: z.boolean().default(false).describe("Replace a file there; a directory is never replaced."),
  }),
  output: z.object({
    source: z.string(),
    destination: z.string(),
    content: z.string(),
    skipped: z.array(z.string()).optional(),
    replaced_bytes: z.number().optional(),
    ...journaled,
  }),
  async run(input, files, call) {
    const progress = (done: number, total: number) => call.progress(done, total);
    const request = { ...input, progress, signal: call.signal };
    const question = await files.copyQuestion(request);
    if (question !== undefined) await call.confirm(question);
    const copied = await files.copy(request);
    return {
      source: copied.path,
      destination: copied.destination,
      content: describe({ ...copied, others: 0 }),
      skipped: some(copied.skipped),
      replaced_bytes: copied.replaced,
      ...journalFacts(copied.receipt),
    };
  },
});
