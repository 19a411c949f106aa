import { paths, changeTool as tool } from "../../context.ts";
import { updatedSubmodules, updateSubmodules } from "../../repository/remote/submodules.ts";

export default tool({
  name: "git_submodule_update",
  title: "Update submodules",
  description:
    "Check out submodules at the recorded commits, and clone missing ones. For nested submodules, call it with the submodule as repo_path.",
  effect: "change",
  openWorld: true,
  toolset: "remote",
  input: { paths },
  output: updatedSubmodules,
  run: updateSubmodules,
});
