import * as z from "zod";
import { option, tool } from "../context.ts";
import { init } from "../git/change/new-repository.ts";

export default tool({
  name: "git_init",
  title: "Create a repository",
  description: "Create an empty repository in a directory inside the allowed ones.",
  effect: "add",
  toolset: "extra",
  input: z.strictObject({
    path: z.string().min(1).describe("Directory; created if missing."),
    initial_branch: option("Name of the first branch."),
  }),
  output: z.object({ repository: z.string(), branch: z.string() }),
  run: (query, git, call) => init(git, query, call),
});
