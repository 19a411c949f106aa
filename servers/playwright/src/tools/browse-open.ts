import { withLinks } from "@refmcp/core";
import * as z from "zod";
import { withUris } from "../browser/run/report.ts";
import { browsed, limit, linksOf, lookOf, session, steps, tool, url } from "../context.ts";

export default tool({
  name: "pw_browse_open",
  title: "Open a browser session",
  description:
    "Open a page in a browser session that stays open, and return its snapshot. For a single verdict use pw_run_test.",
  toolset: "browse",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    session,
    url,
    steps: steps.describe("As in pw_run_test: \"click button 'Accept'\"."),
    device: z.string().optional().describe('"iPhone 15", "1024x768", "dark".'),
    limit,
  }),
  output: browsed,
  async run({ session: name, limit: max, ...request }, { sessions }, call) {
    const look = lookOf(call, max);
    const page = await sessions.open(name, { ...request, look }, call);
    return withLinks(withUris(page), linksOf(page.artifacts));
  },
});
