import * as z from "zod";
import { paths, changeTool as tool } from "../../context.ts";
import { bisect, bisected } from "../../repository/change/bisect.ts";

const commit = z.string().min(1).max(1_000);

export default tool({
  name: "git_bisect",
  title: "Bisect",
  description:
    "Find the commit that broke something: returns a commit to test, takes your verdict, and so on to the first bad one. Your working tree and git's own bisect are not touched.",
  effect: "change",
  toolset: "extra",
  input: {
    action: z
      .enum(["start", "good", "bad", "skip", "show", "reset"])
      .describe("start, a verdict on a commit, show the state, or reset to end."),
    bad: commit.default("HEAD").describe("start: a commit that is broken."),
    good: z.array(commit).min(1).max(50).optional().describe("start: commits that still work."),
    commit: commit.optional().describe("Commit of the verdict. Default: the one to test."),
    paths,
    path: z.string().min(1).optional().describe("start: new directory, where each commit is checked out."),
    first_parent: z.boolean().default(false).describe("start: follow first parents of merges only."),
  },
  output: bisected,
  run: bisect,
});
