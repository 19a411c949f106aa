import { paths, readTool as tool } from "../context.ts";
import { status, statusShape } from "../git/read/status.ts";

export default tool({
  name: "git_status",
  title: "Working tree status",
  description:
    "Show branch, upstream, staged, unstaged, untracked and conflicted files. To list the files of a new directory, pass it in paths.",
  toolset: "read",
  input: { paths },
  output: statusShape,
  run: status,
});
