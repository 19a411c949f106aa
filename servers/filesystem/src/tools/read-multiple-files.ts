import * as z from "zod";
import { tool } from "../context.ts";
import { framed, readMany } from "../files/read/read-many.ts";

export default tool({
  name: "read_multiple_files",
  title: "Read text files",
  description:
    "Read several text files or documents in one call. Those that do not fit are left for another call.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({
    paths: z
      .array(z.string())
      .min(1)
      .max(1000)
      .describe("Absolute, or relative to an allowed directory."),
  }),
  async run({ paths }, files, { budget: maxChars, signal }) {
    return framed(await readMany(files, paths, { maxChars, signal }));
  },
});
