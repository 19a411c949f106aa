import * as z from "zod";
import { remoteName, skipHooks, changeTool as tool } from "../context.ts";
import { integrated } from "../git/change/integrate.ts";
import { pull } from "../git/remote/transfer.ts";

export default tool({
  name: "git_pull",
  title: "Pull",
  description:
    "Fetch a branch and fast-forward the current branch to it, or with rebase put your commits on top of it.",
  effect: "change",
  openWorld: true,
  toolset: "remote",
  input: {
    remote: remoteName,
    branch_name: z
      .string()
      .min(1)
      .max(250)
      .optional()
      .describe("Remote branch. Default: the same name."),
    rebase: z.boolean().default(false).describe("If both have new commits: rebase, after asking."),
    skip_hooks: skipHooks,
  },
  output: integrated,
  run: pull,
});
