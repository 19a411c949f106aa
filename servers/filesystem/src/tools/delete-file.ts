import * as z from "zod";
import { path, tool } from "../context.ts";
import { describePlan } from "../files/change/delete.ts";
import { changeAnswer, named } from "../files/journal/receipt-text.ts";

export default tool({
  name: "delete_file",
  title: "Delete",
  description:
    "Delete a file, a link (not its target) or a directory; undo_change can bring it back. " +
    "For a directory with content set recursive.",
  effect: "destroy",
  openWorld: false,
  toolset: "write",
  input: z.strictObject({
    path,
    recursive: z.boolean().default(false).describe("With everything below it."),
  }),
  async run({ path, recursive }, files, call) {
    const plan = await files.planDelete(path, { recursive, signal: call.signal });
    if (plan.question !== undefined) await call.confirm(plan.question);
    const { receipt, leftover } = await files.delete(plan, call.signal);
    const rest =
      leftover === undefined ? "" : ` The system did not let all of it be deleted: see ${named(leftover)}.`;
    return changeAnswer(`Deleted ${named(plan.path)}, ${describePlan(plan)}.${rest}`, receipt);
  },
});
