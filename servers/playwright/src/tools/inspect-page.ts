import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { withUris } from "../browser/run/report.ts";
import { linksOf, seen, steps, tool, url, visited } from "../context.ts";

export default tool({
  name: "pw_inspect_page",
  title: "Inspect a page",
  description:
    "Inspect a web page, after optional steps: returns its ARIA snapshot, and targets for steps and assertions.",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    url,
    steps: steps.describe("Performed first, as in pw_run_test."),
    device: z.string().optional().describe('"iPhone 15", "1024x768", "dark".'),
    limit: fields.limit(60, 500),
  }),
  output: z.object({
    ...visited,
    ...seen,
  }),
  async run(request, { drivers }, call) {
    const seen = await drivers.inspect({ ...request, budget: call.budget }, call);
    return withLinks(withUris(seen), linksOf(seen.artifacts));
  },
});
