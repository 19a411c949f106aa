import { ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { answer, choice, files, hunks, notes, option, changeTool as tool } from "../context.ts";
import { moveBranch } from "../git/change/branches.ts";
import { unstage } from "../git/change/stage.ts";
import { changeFields } from "../git/read/changes.ts";

export default tool({
  name: "git_reset",
  title: "Unstage or move the branch",
  description:
    "Unstage everything, files or some changes, or with revision move the branch there. Files don't change.",
  effect: "change",
  toolset: "write",
  input: {
    files: files("Unstage only these").optional(),
    hunks,
    revision: option("Commit to move to, such as HEAD~3."),
    mode: choice(["mixed", "soft"], "soft keeps all changes staged."),
  },
  output: z.object({ ...changeFields, notes }),
  async run(repository, { revision, mode, ...query }, call) {
    if (revision === undefined)
      return answer("All staged changes reset", await unstage(repository, query, call));
    if (query.files === undefined && query.hunks === undefined)
      return answer("Branch moved", await moveBranch(repository, { revision, mode }, call));
    throw new ToolError("invalid", "revision cannot be combined with files or hunks.", {
      code: "bad_revision",
      hint: "Pass files or hunks to unstage them, or revision to move the branch.",
    });
  },
});
