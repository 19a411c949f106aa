import * as z from "zod";
import { files, flag, option, skipHooks, changeTool as tool } from "../context.ts";
import { commit, committed } from "../git/change/commit.ts";

export default tool({
  name: "git_commit",
  title: "Commit",
  description: "Commit the staged changes, or only some files.",
  effect: "add",
  toolset: "write",
  input: {
    message: z.string().min(1).max(100_000).describe("Subject, an empty line, then details."),
    files: files("Commit only these").optional(),
    amend: flag("Replace the last commit."),
    author: option("Name <email>."),
    allow_empty: flag("Without changes too."),
    skip_hooks: skipHooks,
  },
  output: committed,
  run: commit,
});
