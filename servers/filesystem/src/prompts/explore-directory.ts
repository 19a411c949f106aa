import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { prompt } from "../context.ts";

const MAX_LISTED = 4_000;

export default prompt({
  name: "explore_directory",
  title: "Explore a directory",
  description: "Explore a directory: its contents, its structure and where to start.",
  args: z.object({
    path: z
      .string()
      .optional()
      .describe(
        "Absolute, or relative to an allowed directory. Default: the first allowed directory.",
      ),
    goal: z.string().optional().describe("What you want to do there, in one sentence."),
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
      `Explore the directory ${oneLine(start)}${goal === undefined ? "" : `, because I want to: ${oneLine(goal)}`}.`,
      "",
      "Its top level contains:",
      ...shown.split("\n").map((name) => `- ${name}`),
      ...(shown.length < listing.length ? ["- … and more"] : []),
      "",
      "Look at its structure with directory_tree, read its introduction (a README, a manifest), and find what matters using",
      "search_files and search_text instead of reading everything. Then tell me in a few sentences what this is, how it is",
      "laid out, and which files I should open first.",
    ].join("\n");
  },
});
