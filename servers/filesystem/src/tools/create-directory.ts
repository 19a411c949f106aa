import * as z from "zod";
import { journaled, journalFacts, path, tool } from "../context.ts";

export default tool({
  name: "create_directory",
  title: "Create directory",
  description: "Create a directory and its missing parents; one that is there already is fine.",
  effect: "add",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({ path }),
  output: z.object({ path: z.string(), created: z.array(z.string()), ...journaled }),
  async run({ path }, files) {
    const made = await files.createDirectory(path);
    return { path: made.path, created: [...made.created], ...journalFacts(made.receipt) };
  },
});
