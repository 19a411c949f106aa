import { cursorsOf, fitCount } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { grep, number, sentences, tool } from "../context.ts";

export default tool({
  name: "pw_list_specs",
  title: "List the project's tests",
  description:
    "List the tests of the user's own Playwright project (--project). Run them with pw_run_specs.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    files: sentences.describe("Only in files whose path contains one of these."),
    grep,
    limit: fields.limit(100, 1_000),
    cursor: fields.cursor,
  }),
  output: z.object({
    tests: z.array(z.string()),
    total: number,
    next_cursor: fields.nextCursor,
  }),
  async run({ limit, cursor, ...selection }, { specs }, call) {
    const cursors = cursorsOf("pw_list_specs", selection, z.int().min(0));
    const from = cursors.decode(cursor) ?? 0;
    const all = await specs.list({ ...selection, project: undefined }, call.signal);
    const page = all.slice(from, from + limit);
    const tests = page.slice(0, fitCount(page, call.budget - 500));
    const end = from + tests.length;
    return {
      tests,
      total: all.length,
      ...(end < all.length ? { next_cursor: cursors.encode(end) } : {}),
    };
  },
});
