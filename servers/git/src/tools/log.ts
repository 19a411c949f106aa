import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { notes, readable, readTool as tool } from "../context.ts";
import { commitShape } from "../git/read/commits.ts";
import { log } from "../git/read/log.ts";

const text = z.string().optional();
const date = z.string().min(1).max(100).optional();

export default tool({
  name: "git_log",
  title: "Commit log",
  description: "List commits, newest first. Patches and long messages are only in git_show.",
  view: "diff",
  toolset: "read",
  input: {
    max_count: fields.limit(10, 1_000),
    start_timestamp: date.describe("From this date, e.g. 2024-01-15 or 2 weeks ago."),
    end_timestamp: date.describe("Up to this date, inclusive."),
    revision: text.describe("Branch, tag, commit or range a..b. Default: HEAD."),
    format: z
      .enum(["oneline", "full", "stat"])
      .optional()
      .describe("Default: full; from max_count 20 oneline. stat lists files."),
    path: text.describe("Only changes of this path."),
    follow: z.boolean().default(false).describe("Follow a file's renames."),
    lines: text.describe("With path: history of lines 10,40 or a named function."),
    author: text.describe("Regex for the author."),
    grep: text.describe("Regex for the message."),
    pickaxe: text.describe("Text added or removed. Slow: add path or dates."),
    cursor: fields.cursor,
  },
  output: z.object({ commits: z.array(commitShape), next_cursor: fields.nextCursor, notes }),
  async run(repository, { max_count, start_timestamp, end_timestamp, ...query }, call) {
    const range = { limit: max_count, since: start_timestamp, until: end_timestamp };
    return readable("Commit history:", await log(repository, { ...query, ...range }, call));
  },
});
