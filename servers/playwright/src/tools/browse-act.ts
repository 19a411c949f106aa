import { withLinks } from "@refmcp/core";
import * as z from "zod";
import { withUris } from "../browser/verdict/report.ts";
import { browsed, linksOf, lookOf, session, steps, tool } from "../context.ts";

export default tool({
  name: "pw_browse_act",
  title: "Act in a browser session",
  description:
    "Perform steps in an open session; return the page's URL, the failed step if any, and new console lines.",
  toolset: "browse",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    session,
    steps: steps.describe("As in pw_run_test: \"click button 'Save'\", \"screenshot 'menu' of nav\"."),
    snapshot: z.boolean().default(false).describe("Also return the snapshot, as pw_browse_snapshot does."),
  }),
  output: browsed,
  async run({ session: name, steps: sentences, snapshot }, { sessions }, call) {
    const look = snapshot ? lookOf(call) : undefined;
    const page = await sessions.act(name, { steps: sentences, look }, call);
    return withLinks(withUris(page), linksOf(page.artifacts));
  },
});
