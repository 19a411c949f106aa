import { files, flag, changeTool as tool } from "../context.ts";
import { clean } from "../git/change/destroy.ts";
import { destroyed } from "../git/change/recovery.ts";

export default tool({
  name: "git_clean",
  title: "Delete untracked files",
  description: "Delete untracked files. Lists them, asks, and keeps them for recovery.",
  effect: "destroy",
  toolset: "danger",
  input: {
    files: files("Only these").optional(),
    ignored: flag("Include ignored files."),
  },
  output: destroyed,
  run: clean,
});
