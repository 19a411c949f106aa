import * as z from "zod";
import { answer, files, hunks, changeTool as tool } from "../../context.ts";
import { unstage } from "../../repository/change/stage.ts";
import { changedFiles } from "../../repository/read/changed-files.ts";

export default tool({
  name: "git_reset",
  title: "Unstage",
  description: "Unstage everything, some files or hunks. The working tree is unchanged.",
  effect: "change",
  toolset: "write",
  idempotent: true,
  input: {
    files: files("Unstage only these").optional(),
    hunks,
  },
  output: z.object({ files: changedFiles, count: z.number(), undo: z.string().optional() }),
  run: async (repository, query, call) =>
    answer("All staged changes reset", await unstage(repository, query, call)),
});
