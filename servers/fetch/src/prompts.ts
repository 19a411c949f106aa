/** The prompt with which a person adds a page to the conversation. */
import * as z from "zod";
import { prompt } from "./context.ts";
import { pieceOf } from "./page/answer/piece.ts";

const fetchPrompt = prompt({
  name: "fetch",
  title: "Fetch a page",
  description:
    "Add a web page to the conversation. Because a person asks for it, robots.txt is ignored.",
  args: z.object({ url: z.string().describe("An http or https URL.") }),
  async run({ url }, web, call) {
    const snapshot = await web.get(url, { requester: "user", signal: call.signal });
    const page = await snapshot.page({}, call.signal);
    const { head, text, foot } = pieceOf(snapshot, page, 0, Math.max(1, call.budget - 1_000));
    const { href } = snapshot.answer.url;
    return [
      { role: "user", content: { type: "text", text: `Contents of ${href}:\n${head}\n${foot}` } },
      {
        role: "user",
        content: { type: "resource", resource: { uri: href, mimeType: "text/markdown", text } },
      },
    ];
  },
});

export const prompts = [fetchPrompt];
