import * as z from "zod";
import { journaled, journalFacts, path, tool } from "../context.ts";
import { describePlan } from "../files/change/delete.ts";

export default tool({
  name: "delete_file",
  title: "Delete",
  description:
    "Delete a file, a link (not its target) or a directory; undo_change can bring it back. " +
    "For a directory with content set recursive. The user is asked first where nothing could bring it back.",
  effect: "destroy",
  openWorld: false,
  input: z.strictObject({
    path,
    recursive: z.boolean().default(false).describe("With everything below it."),
  }),
  output: z.object({
    path: z.string(),
    content: z.string(),
    /** Where a rest is that the system did not let us delete. */
    leftover: z.string().optional(),
    ...journaled,
  }),
  async run({ path, recursive }, files, call) {
    const plan = await files.planDelete(path, { recursive, signal: call.signal });
    if (plan.question !== undefined) await call.confirm(plan.question);
    const { receipt, leftover } = await files.delete(plan, call.signal);
    return { path: plan.path, content: describePlan(plan), leftover, ...journalFacts(receipt) };
  },
});
