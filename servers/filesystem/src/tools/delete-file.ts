import { sizeOf } from "@refmcp/boundary/answer";
import * as z from "zod";
import { tool } from "../context.ts";
import { changeAnswer, confirmLoss, deletionText, namedList } from "../files/change/answer.ts";
import { planDeletion } from "../files/change/plan.ts";
import { run } from "../files/change/run.ts";
import { describe, entriesOf } from "../files/store/state.ts";

export default tool({
  name: "delete_file",
  title: "Delete",
  description:
    "Delete a file, a symlink (not its target) or a directory, or all files that match a glob; undo_change restores them. " +
    "For a non-empty directory set recursive.",
  effect: "destroy",
  toolset: "write",
  input: z.strictObject({
    path: z.string().describe("A path, or a glob for many, for example **/*.tmp."),
    recursive: z.boolean().default(false).describe("Including its contents."),
    dryRun: z.boolean().default(false).describe("Only show what would be deleted."),
  }),
  async run({ path, recursive, dryRun }, files, call) {
    const { signal } = call;
    const plan = await planDeletion(files, path, { recursive, signal });
    const { subject, steps, deletions } = plan;
    const paths = deletions.map((deletion) => deletion.path);
    const what = deletionText(deletions);
    if (dryRun) return `Would delete ${namedList(paths)}: ${what}. Nothing was changed.`;
    const lost = deletions.filter(
      ({ type, content }) => type !== "directory" || entriesOf(content) > 0,
    );
    const [only] = lost;
    const bytes = lost.reduce((sum, deletion) => sum + deletion.bytes, 0);
    await confirmLoss(files, call, {
      verb: "Delete",
      path: subject.path,
      count: lost.length,
      what:
        lost.length === 1 && only?.content !== undefined
          ? ` and its contents: ${describe(only.content)}`
          : ` (${sizeOf(bytes)})`,
    });
    const progress = (done: number, total: number) => call.progress(done, total);
    const { receipt, outcomes } = await run(files, subject, steps, { signal, progress });
    const leftovers = outcomes.flatMap(({ leftover = [] }) => leftover);
    const rest =
      leftovers.length === 0
        ? ""
        : ` The system denied deleting some of it: see ${namedList(leftovers)}.`;
    const done = `Deleted ${namedList(paths)}${deletions.length === 1 ? "," : ":"} ${what}.`;
    return changeAnswer(done + rest, receipt);
  },
});
