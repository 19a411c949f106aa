import * as z from "zod";
import { path, tool } from "../context.ts";
import { describePlan } from "../files/change/delete.ts";
import { changeAnswer } from "../files/journal/list-changes.ts";
import { named } from "../files/messages.ts";

export default tool({
  name: "delete_file",
  title: "Delete",
  description:
    "Delete a file, a symlink (not its target) or a directory; undo_change restores it. " +
    "For a non-empty directory set recursive.",
  effect: "destroy",
  toolset: "write",
  input: z.strictObject({
    path,
    recursive: z.boolean().default(false).describe("Including its contents."),
  }),
  async run({ path, recursive }, files, call) {
    const plan = await files.planDelete(path, { recursive, signal: call.signal });
    if (plan.question !== undefined) await call.confirm(plan.question, plan.action);
    const { receipt, leftover } = await files.delete(plan, call.signal);
    const rest =
      leftover === undefined
        ? ""
        : ` The system denied deleting some of it: see ${named(leftover)}.`;
    return changeAnswer(`Deleted ${named(plan.path)}, ${describePlan(plan)}.${rest}`, receipt);
  },
});
