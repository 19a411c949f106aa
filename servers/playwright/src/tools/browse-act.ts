import { withLinks } from "@refmcp/core";
import * as z from "zod";
import { withUris } from "../browser/run/report.ts";
import { assertions, browsed, limit, linksOf, lookOf, session, steps, tool } from "../context.ts";

export default tool({
  name: "pw_browse_act",
  title: "Act in a browser session",
  description:
    "Perform steps and check assertions in an open session; return the verdicts, the failed step and new console lines. Without either, return the page's snapshot with targets.",
  toolset: "browse",
  effect: "change",
  openWorld: true,
  input: z.strictObject({
    session,
    steps: steps.describe(
      "As in pw_run_test: \"click button 'Save'\", \"screenshot 'menu' of nav\".",
    ),
    assertions: assertions.describe("As in pw_run_test, checked after the steps."),
    snapshot: z.boolean().default(false).describe("Also return the snapshot."),
    limit,
  }),
  output: browsed,
  async run({ session: name, snapshot, limit: max, ...sentences }, { sessions }, call) {
    const isLook = snapshot || sentences.steps.length + sentences.assertions.length === 0;
    const look = isLook ? lookOf(call, max) : undefined;
    const page = await sessions.act(name, { ...sentences, look }, call);
    return withLinks(withUris(page), linksOf(page.artifacts));
  },
});
