import { withLinks } from "@refmcp/core";
import * as z from "zod";
import { withUris } from "../browser/verdict/report.ts";
import { assertions, browsed, linksOf, lookOf, session, steps, tool } from "../context.ts";

export default tool({
  name: "pw_browse_act",
  title: "Act in a browser session",
  description:
    "Perform steps and check assertions in an open session; return the verdicts, the failed step and new console lines.",
  toolset: "browse",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    session,
    steps: steps.describe(
      "As in pw_run_test: \"click button 'Save'\", \"screenshot 'menu' of nav\".",
    ),
    assertions: assertions.describe("As in pw_run_test, checked after the steps."),
    snapshot: z
      .boolean()
      .default(false)
      .describe("Also return the snapshot, as pw_browse_snapshot does."),
  }),
  output: browsed,
  async run({ session: name, snapshot, ...sentences }, { sessions }, call) {
    const look = snapshot ? lookOf(call) : undefined;
    const page = await sessions.act(name, { ...sentences, look }, call);
    return withLinks(withUris(page), linksOf(page.artifacts));
  },
});
