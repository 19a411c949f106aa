import type { CallTool, Task } from "@refmcp/core/testing";
import * as z from "zod";

const answer = z.object({
  lines: z.array(z.object({ path: z.string(), line: z.number(), text: z.string() })),
  next_cursor: z.string().optional(),
});
const find = async (call: CallTool, args: Record<string, unknown>) =>
  answer.parse(JSON.parse(await call("sample_find", args)));
const textsOf = ({ lines }: z.output<typeof answer>) => lines.map(({ text }) => text).join("\n");

export const tasks: readonly Task[] = [
  {
    name: "find who does something",
    prompt: "Who brings the tea to the meeting?",
    reference: async (call) => textsOf(await find(call, { query: "brings the tea" })),
    check: (text) => text.includes("Ada"),
  },
  {
    name: "find the note and the line",
    prompt: "Where did I write about chess? Tell me the note and the line.",
    async reference(call) {
      const [first] = (await find(call, { query: "chess" })).lines;
      return `${first?.path}, line ${first?.line}`;
    },
    check: (text) => text.includes("ideas.md") && text.includes("3"),
  },
  {
    name: "look for a word however it is written",
    prompt: "List all lines with TEA.",
    reference: async (call) => textsOf(await find(call, { query: "TEA" })),
    check: (text) => text.includes("Ada brings the tea.") && text.includes("Tea for everybody."),
  },
  {
    name: "look into one note only",
    prompt: "What does ideas.md say about tea? Only that note.",
    reference: async (call) => textsOf(await find(call, { query: "tea", path: "ideas.md" })),
    check: (text) => text.includes("everybody") && !text.includes("Ada"),
  },
  {
    name: "say that there is nothing",
    prompt: "Did I ever write about zeppelins?",
    async reference(call) {
      const { lines } = await find(call, { query: "zeppelin" });
      return lines.length === 0 ? "No, nothing." : textsOf({ lines });
    },
    check: (text) => /\bno\b/i.test(text),
  },
  {
    name: "count over several pages",
    prompt: "How many entries has the long list?",
    async reference(call) {
      let count = 0;
      let cursor: string | undefined;
      do {
        const page = await find(call, { query: "entry", path: "long.md", limit: 500, cursor });
        count += page.lines.length;
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      return `${count} entries`;
    },
    check: (text) => /\b3,?000\b/.test(text),
  },
  {
    name: "give the headings",
    prompt: "What are the titles of my notes?",
    reference: async (call) => textsOf(await find(call, { query: "# " })),
    check: (text) => text.includes("Meeting") && text.includes("Ideas"),
  },
  {
    name: "put two notes together",
    prompt: "Which machines and engines do my notes speak of, and who speaks of them?",
    async reference(call) {
      const machines = await find(call, { query: "machine" });
      const engines = await find(call, { query: "engine" });
      return `${textsOf(machines)}\n${textsOf(engines)}`;
    },
    check: (text) => text.includes("chess") && text.includes("Charles"),
  },
];
