import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { notes, readable, readTool as tool } from "../context.ts";
import { commitShape } from "../git/read/commits.ts";
import { bisect, log } from "../git/read/log.ts";

const text = z.string().optional();
const date = z.string().min(1).max(100).optional();

export default tool({
  name: "git_log",
  title: "Commit log",
  description: "List commits, newest first. For patches and long messages, use git_show.",
  view: "diff",
  toolset: "read",
  input: {
    max_count: fields.limit(10, 1_000),
    start_timestamp: date.describe("2024-01-15 or 2 weeks ago."),
    end_timestamp: date.describe("Inclusive."),
    revision: text.describe("Branch, tag, commit or range a..b. Default: HEAD."),
    format: z
      .enum(["oneline", "full", "stat"])
      .optional()
      .describe("oneline from max_count 20 on; stat lists files."),
    path: text.describe("Only changes of this path."),
    lines: text.describe("History of lines 10,40 of path, or of a function."),
    author: text.describe("Regex for the author."),
    grep: text.describe("Regex for the message."),
    pickaxe: text.describe("Text added or removed; slow without path."),
    bisect: z
      .strictObject({ good: z.array(z.string()).min(1).max(50), bad: z.string() })
      .optional()
      .describe("The next commit to test between good and bad."),
    cursor: fields.cursor,
  },
  output: z.object({ commits: z.array(commitShape), next_cursor: fields.nextCursor, notes }),
  async run(repository, { bisect: tested, max_count, ...query }, call) {
    if (tested !== undefined) return readable("", await bisect(repository, tested));
    const { start_timestamp: since, end_timestamp: until, ...rest } = query;
    const commits = await log(repository, { ...rest, limit: max_count, since, until }, call);
    return readable("Commit history:", commits);
  },
});
