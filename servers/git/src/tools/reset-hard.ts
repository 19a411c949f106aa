import * as z from "zod";
import { changeTool as tool } from "../context.ts";
import { resetHard } from "../git/change/destroy.ts";
import { destroyed } from "../git/change/recovery.ts";

export default tool({
  name: "git_reset_hard",
  title: "Reset hard",
  description:
    "Move the branch, index and working tree to a commit. Shows what is lost, asks, and keeps it for recovery.",
  effect: "destroy",
  toolset: "danger",
  input: { revision: z.string().default("HEAD").describe("Where to reset to.") },
  output: destroyed,
  run: resetHard,
});
