import * as z from "zod";
import { changeTool as tool } from "../context.ts";
import { deleteTag } from "../git/change/destroy.ts";
import { destroyed } from "../git/change/recovery.ts";

export default tool({
  name: "git_delete_tag",
  title: "Delete a tag",
  description: "Delete a local tag. Asks, and keeps a recovery ref.",
  effect: "destroy",
  toolset: "danger",
  input: { tag_name: z.string().min(1).max(250).describe("The tag to delete.") },
  output: destroyed,
  run: deleteTag,
});
