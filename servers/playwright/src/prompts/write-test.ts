import * as z from "zod";
import { GRAMMAR } from "../browser/language/help.ts";
import { prompt } from "../context.ts";

export default prompt({
  name: "pw_write_test",
  title: "Write a test for a page",
  description: "Develop a test on a page, sentence by sentence, and export it as a spec.",
  args: z.strictObject({
    url: z.string().describe("The page: http://localhost:3000/"),
    goal: z
      .string()
      .optional()
      .describe("What to test: signing in, the search, a scenario of a plan, …"),
  }),
  run: ({ url, goal }) =>
    [
      `Write a test for ${url}${goal === undefined ? "" : `: ${goal}`}.`,
      "1. Call pw_inspect_page to see the page; its targets are ready to use. For content that appears later, pass the steps that lead there.",
      "2. Try steps and assertions with pw_run_test until they pass and would fail if the page were wrong. Check what a person would notice, not how it is built; prefer roles and labels to CSS.",
      "3. Make one assertion wrong on purpose once, to see that it fails.",
      "4. Call pw_export_spec with the scenario as title and what passed. Put the spec into a file named after the scenario, one test per file, and show me the code and the screenshot's path.",
      `The language:\n${GRAMMAR}`,
    ].join("\n"),
});
