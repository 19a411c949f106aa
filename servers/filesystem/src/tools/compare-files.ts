import * as z from "zod";
import { diffText, path, tool } from "../context.ts";
import { compareFiles } from "../files/edit/compare.ts";

/** Characters of an answer that are not the diff. */
const FACTS_CHARS = 1500;

export default tool({
  name: "compare_files",
  title: "Compare files",
  description: "Show the differences between two text files or documents as a unified diff.",
  effect: "read",
  view: "diff",
  toolset: "read",
  input: z.strictObject({ from: path, to: path }),
  async run(input, files, call) {
    const maxChars = call.budget - FACTS_CHARS;
    return diffText(await compareFiles(files, { ...input, maxChars, signal: call.signal }));
  },
});
