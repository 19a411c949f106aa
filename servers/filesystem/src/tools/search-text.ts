import * as z from "zod";
import { cursor, includeIgnored, tool } from "../context.ts";
import { searchAnswer } from "../files/search/answer.ts";
import { searchText } from "../files/search/search.ts";

export default tool({
  name: "search_text",
  title: "Search text",
  description:
    "Search the text of files and documents (Office, PDF, mail) for a JavaScript regular expression or literal text. " +
    "To find files by name call search_files.",
  effect: "read",
  toolset: "search",
  input: z.strictObject({
    pattern: z.string().describe("Regular expression, for example func\\w+\\(."),
    path: z.string().default(".").describe("Directory or file."),
    glob: z.string().optional().describe("Only matching files, for example *.ts or src/**."),
    literal: z.boolean().default(false).describe("The pattern is plain text."),
    ignore_case: z.boolean().default(false).describe("Case-insensitive."),
    mode: z
      .enum(["content", "files", "counts"])
      .default("content")
      .describe("content: lines; files: paths; counts: lines per file."),
    context: z.int().min(0).max(10).default(0).describe("Context lines around each match."),
    include_ignored: includeIgnored,
    limit: z.int().min(1).max(1000).default(100).describe("Lines or files."),
    cursor,
  }),
  async run(input, files, call) {
    const progress = (done: number) => call.progress(done, undefined, "files searched");
    const { budget, signal } = call;
    const matches = await searchText(files, { ...input, budget, signal, progress });
    return searchAnswer(matches, input.context, files.guard.allowed.directories()[0]?.path);
  },
});
