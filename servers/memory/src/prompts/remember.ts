import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "remember",
  title: "Remember",
  description: "Save what matters in this conversation, or a given text, to the memory.",
  args: z.object({
    what: z.string().optional().describe("What to remember. Default: what matters in this conversation."),
  }),
  run: ({ what }) =>
    [
      what === undefined
        ? "Save what is worth remembering from this conversation to the memory."
        : `Save this to the memory:\n\n${what}\n`,
      "1. Pick the people, projects, places and things, and what will still matter later. Omit secrets, passwords and passing moods.",
      "2. Call search_nodes for each of them, so that nothing is added twice.",
      "3. create_entities for new ones; add_observations for new facts, one short sentence each; create_relations for how they are connected.",
      "4. If a fact is no longer true, call delete_observations and add the new one; update_entities corrects names and merges duplicates.",
      "5. Tell me briefly what you saved.",
    ].join("\n"),
});
