import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { withUris } from "../browser/run/report.ts";
import { artifacts, linksOf, number, tool, url } from "../context.ts";

export default tool({
  name: "pw_inspect_page",
  title: "Inspect a page",
  description:
    "Look at a web page: what stands there, with targets ready for steps and assertions. It clicks nothing; to act call pw_run_test.",
  effect: "read",
  openWorld: true,
  input: z.strictObject({
    url,
    device: z.string().default("desktop").describe('"desktop", "iPhone 15", "1024x768", "dark".'),
    limit: fields.limit(60, 500),
  }),
  output: z.object({
    url: z.string(),
    status: number.optional(),
    title: z.string(),
    outline: z.array(z.string()),
    targets: z.array(z.string()),
    not_shown: number.optional(),
    console: z.array(z.string()),
    run_id: z.string(),
    artifacts,
  }),
  async run(request, { drivers }, call) {
    const seen = await drivers.inspect({ ...request, budget: call.budget }, call);
    return withLinks(withUris(seen), linksOf(seen.artifacts));
  },
});
