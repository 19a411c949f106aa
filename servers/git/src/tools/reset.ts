import * as z from "zod";
import { choice, files, hunks, notes, option, changeTool as tool } from "../context.ts";
import { moveBranch } from "../git/change/branches.ts";
import { unstage } from "../git/change/stage.ts";
import { changeFields } from "../git/read/changes.ts";
import { failure } from "../git/run/errors.ts";

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
    if (revision === undefined) return unstage(repository, query, call);
    if (query.files === undefined && query.hunks === undefined)
      return moveBranch(repository, { revision, mode }, call);
    throw failure("bad_argument", "revision cannot be combined with files or hunks.");
  },
});
