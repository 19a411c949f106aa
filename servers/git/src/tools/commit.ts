import * as z from "zod";
import { answer, files, hunks, skipHooks, changeTool as tool } from "../context.ts";
import { commit, committed } from "../git/change/commit.ts";

export default tool({
  name: "git_commit",
  title: "Commit",
  description: "Commit the staged changes, or only some files or changes of git_diff_unstaged.",
  effect: "add",
  toolset: "write",
  input: {
    message: z.string().min(1).max(100_000).describe("Subject, an empty line, then details."),
    files: files("Commit only these").optional(),
    hunks,
    amend: z.boolean().default(false).describe("Replace the last commit."),
    author: z.string().max(300).optional().describe("Name <email>."),
    sign: z.boolean().optional().describe("Default: commit.gpgSign."),
    allow_empty: z.boolean().default(false).describe("Without changes too."),
    skip_hooks: skipHooks,
  },
  output: committed,
  async run(repository, query, call) {
    const made = await commit(repository, query, call);
    return answer(`Changes committed successfully with hash ${made.commit}`, made);
  },
});
