import { oneLine } from "@refmcp/core/answer";
import * as z from "zod";
import { prompt } from "../context.ts";

/** Characters of the listing that the prompt carries itself. */
const MAX_LISTED = 4_000;

export default prompt({
  name: "explore_directory",
  title: "Explore a directory",
  description: "Get to know a directory: what it holds, how it is laid out, where to begin.",
  args: z.object({
    path: z
      .string()
      .optional()
      .describe("Absolute, or below an allowed directory; by default the first allowed one."),
    goal: z.string().optional().describe("What you want to do there, in a sentence."),
  }),
  complete: {
    path: (value, files) => files.completePath(value),
  },
  async run({ path, goal }, files) {
    const start = path ?? files.allowedDirectories()[0]?.path ?? ".";
    const whole = await files.readWhole(start);
    const listing = "text" in whole ? whole.text : "";
    const shown = listing.slice(0, MAX_LISTED);
    return [
      `Get to know the directory ${oneLine(start)}${goal === undefined ? "" : `, because I want to: ${oneLine(goal)}`}.`,
      "",
      "It holds, at its top:",
      ...shown.split("\n").map((name) => `- ${name}`),
      ...(shown.length < listing.length ? ["- … and more"] : []),
      "",
      "Look at its shape with directory_tree, read what introduces it (a README, a manifest), and find what matters with",
      "search_files and search_text instead of reading everything. Then tell me in a few sentences what this is, how it is",
      "laid out, and which files I should open first.",
    ].join("\n");
  },
});
