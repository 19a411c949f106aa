import * as z from "zod";
import { option, changeTool as tool } from "../context.ts";
import { createTag } from "../git/change/branches.ts";

export default tool({
  name: "git_create_tag",
  title: "Create a tag",
  description: "Create a tag: annotated with a message, lightweight without one.",
  effect: "add",
  toolset: "extra",
  input: {
    tag_name: z.string().min(1).max(250).describe("Name of the tag, such as v1.2.0."),
    revision: z.string().default("HEAD").describe("The commit to tag."),
    message: option("Message of an annotated tag."),
  },
  output: z.object({ tag: z.string(), commit: z.string(), annotated: z.boolean() }),
  run: createTag,
});
