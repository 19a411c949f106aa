import * as z from "zod";
import { path, tool } from "../context.ts";
import { changeAnswer } from "../files/journal/list-changes.ts";
import { named } from "../files/messages.ts";

export default tool({
  name: "create_directory",
  title: "Create directory",
  description: "Create a directory and any missing parents. Succeeds if it already exists.",
  effect: "add",
  toolset: "write",
  idempotent: true,
  input: z.strictObject({ path }),
  async run({ path }, files) {
    const made = await files.createDirectory(path);
    if (made.created.length === 0) return `${named(made.path)} already exists.`;
    return changeAnswer(`Created ${made.created.map(named).join(", ")}.`, made.receipt);
  },
});
