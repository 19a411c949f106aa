import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "pw_accessibility_review",
  title: "Review a page's accessibility",
  description: "Check a page with axe-core and by its structure, and list what to fix, worst first.",
  args: z.strictObject({ url: z.string().describe("The page: http://localhost:3000/") }),
  run: ({ url }) =>
    [
      `Review the accessibility of ${url}.`,
      '1. Call pw_run_test with assertions ["no a11y violations", "no horizontal overflow"], devices ["desktop", "iPhone 15", "dark"] and evidence ["screenshot", "a11y"]; read the a11y.json artifacts with pw_view_artifact.',
      "2. Call pw_inspect_page: do the headings make an outline, do landmarks and names say what things are?",
      '3. Try the keyboard: steps such as "press Tab" and "expect link \'Skip to content\' is focused".',
      "List what you found, worst first: what is wrong, who is affected, which element, how to fix it. Say what a machine cannot judge.",
    ].join("\n"),
});
