import type { CallTool, Task } from "@refmcp/testing";
import * as z from "zod";

const answer = z.object({
  notes: z.array(z.object({ text: z.string() })),
  next_cursor: z.string().optional(),
});
const find = async (call: CallTool, args: Record<string, unknown>) =>
  answer.parse(JSON.parse(await call("sample_find", args)));

/** Three are enough for up to three tools; with more tools write one for each, up to eight. */
export const tasks: readonly Task[] = [
  {
    name: "find who does something",
    prompt: "Who brings the tea to the meeting?",
    async reference(call) {
      const { notes } = await find(call, { query: "brings the tea" });
      return notes.map(({ text }) => text).join("\n");
    },
    check: (text) => text.includes("Ada"),
  },
  {
    name: "report that there is nothing",
    prompt: "Did I ever write about zeppelins?",
    async reference(call) {
      const { notes } = await find(call, { query: "zeppelin" });
      return notes.length === 0 ? "No, nothing." : "Yes.";
    },
    check: (text) => /\bno\b/i.test(text),
  },
  {
    name: "count over several pages",
    prompt: "How many entries does the long list have?",
    async reference(call) {
      let count = 0;
      let cursor: string | undefined;
      do {
        const page = await find(call, { query: "of a long list", limit: 500, cursor });
        count += page.notes.length;
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      return `${count} entries`;
    },
    check: (text) => /\b3,?000\b/.test(text),
  },
];
