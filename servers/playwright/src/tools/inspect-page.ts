import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { withUris } from "../browser/run/report.ts";
import { artifacts, linksOf, number, steps, tool, url } from "../context.ts";

export default tool({
  name: "pw_inspect_page",
  title: "Inspect a page",
  description:
    "Look at a web page, after steps if any: its ARIA snapshot, and targets ready for steps and assertions.",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    url: url.optional(),
    steps: steps.describe("Done first, as in pw_run_test."),
    from: z.string().optional().describe("A saved state's name, or a run_id whose steps are repeated first."),
    device: z.string().optional().describe('"iPhone 15", "1024x768", "dark".'),
    limit: fields.limit(60, 500),
  }),
  output: z.object({
    url: z.string(),
    status: number.optional(),
    title: z.string(),
    snapshot: z.string(),
    targets: z.array(z.string()),
    not_shown: number.optional(),
    lines_left_out: number.optional(),
    console: z.array(z.string()),
    failed_step: z.string().optional(),
    notes: z.array(z.string()).optional(),
    run_id: z.string(),
    artifacts,
  }),
  async run(request, { drivers }, call) {
    const seen = await drivers.inspect({ ...request, budget: call.budget }, call);
    return withLinks(withUris(seen), linksOf(seen.artifacts));
  },
});
