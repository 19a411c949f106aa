import * as z from "zod";
import { changeTool as tool } from "../context.ts";
import { dropStash } from "../git/change/destroy.ts";
import { destroyed } from "../git/change/recovery.ts";

export default tool({
  name: "git_drop_stash",
  title: "Drop a stash",
  description: "Delete one stash. Shows its contents, asks, and keeps a recovery ref.",
  effect: "destroy",
  toolset: "danger",
  input: {
    stash: z.string().min(1).max(60).default("stash@{0}").describe("stash@{0} is the newest."),
  },
  output: destroyed,
  run: dropStash,
});
