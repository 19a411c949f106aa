import * as z from "zod";
import { flag, option, remoteName, changeTool as tool } from "../context.ts";
import { fetch, movedRefs } from "../git/remote/transfer.ts";

export default tool({
  name: "git_fetch",
  title: "Fetch",
  description: "Fetch a remote's branches. Local branches don't move.",
  effect: "add",
  openWorld: true,
  toolset: "remote",
  input: {
    remote: remoteName,
    branch_name: option("Only this branch."),
    prune: flag("Remove branches deleted on the remote."),
    tags: flag("Fetch all tags."),
  },
  output: z.object({ remote: z.string(), updated: movedRefs, count: z.number() }),
  run: fetch,
});
