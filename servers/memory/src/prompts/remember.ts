import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "remember",
  title: "Remember",
  description: "Put what matters of this conversation, or a text, into the memory.",
  args: z.object({
    what: z.string().optional().describe("What to remember; left out: what matters of this conversation."),
  }),
  run: ({ what }) =>
    [
      what === undefined
        ? "Put what is worth keeping of this conversation into the memory."
        : `Put this into the memory:\n\n${what}\n`,
      "1. Pick the people, projects, places and things, and what will still matter later. Leave out secrets, passwords and passing moods.",
      "2. search_nodes for each of them, so that nothing is entered twice.",
      "3. create_entities for new ones; add_observations for new facts, one short sentence each; create_relations for how they belong together.",
      "4. Where a fact is no longer true, delete_observations and add the new one; update_entities for names and doubles.",
      "5. Tell me in a few words what you remembered.",
    ].join("\n"),
});
