import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "pw_plan_tests",
  title: "Plan the tests of a site",
  description: "Explore a site, write a test plan, and turn it into a working suite.",
  args: z.strictObject({
    url: z.string().describe("The site's first page: http://localhost:3000/"),
    goal: z.string().optional().describe("The part to test: the checkout, …"),
  }),
  run: ({ url, goal }) =>
    [
      `Plan and write the tests of ${url}${goal === undefined ? "" : `, for ${goal}`}.`,
      "1. Explore with pw_inspect_page: the first page, then, by passing steps, what its links, buttons and forms lead to. For pages behind a sign-in, run the sign-in once with pw_run_test and the last step save state 'user', then pass from 'user'. Take screenshots only if the snapshot is not enough.",
      "2. Map the main journeys of the users and the parts that must not break.",
      "3. Write the plan in Markdown: a heading for each feature, with numbered scenarios below it. Each scenario has a title, the state that it starts from (a fresh browser unless it says use state), numbered steps, the expected results, and what counts as a failure. Cover the usual path, edge cases and limits, and wrong input. Scenarios are independent and run in any order. Show me the plan before you continue.",
      "4. Turn each scenario into one test of steps and assertions, and try it with pw_run_test. Use mock for rare responses: errors, empty lists, slow replies.",
      "5. Run all of them together with pw_run_suite. Fix failures as in the prompt pw_debug_failure; report a bug in the page instead of weakening its test.",
      "6. Write each test as a spec with pw_export_spec, one file per scenario, and list what is covered and what is not.",
      "The language is described in the resource pw://help/assertions.",
    ].join("\n"),
});
