import * as z from "zod";
import { paths, changeTool as tool } from "../../context.ts";
import { bisect, bisected } from "../../repository/change/bisect.ts";

const commit = z.string().max(1_000);

export default tool({
  name: "git_bisect",
  title: "Bisect",
  description:
    "Find the commit that broke something: returns a commit to test, takes your verdict, until the first bad one. Your files don't move.",
  effect: "change",
  toolset: "extra",
  input: {
    action: z
      .enum(["start", "good", "bad", "skip", "show", "reset"])
      .describe("good, bad, skip: your verdict."),
    bad: commit.default("HEAD").describe("start: a broken commit."),
    good: z.array(commit).max(50).optional().describe("start: working commits."),
    commit: commit.optional().describe("Default: the one to test."),
    paths,
    path: z.string().optional().describe("start: new directory to check commits out."),
    first_parent: z.boolean().default(false).describe("start: first parents only."),
  },
  output: bisected,
  run: bisect,
});
