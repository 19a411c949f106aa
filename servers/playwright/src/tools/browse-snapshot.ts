import * as z from "zod";
import { withUris } from "../browser/verdict/report.ts";
import { browsed, limit, lookOf, session, tool } from "../context.ts";

export default tool({
  name: "pw_browse_snapshot",
  title: "Look at a browser session",
  description: "Return the ARIA snapshot of an open session's page, with targets for steps.",
  toolset: "browse",
  effect: "read",
  openWorld: true,
  input: z.strictObject({ session, limit }),
  output: browsed,
  async run({ session: name, limit: max }, { sessions }, call) {
    const look = lookOf(call, max);
    return withUris(await sessions.act(name, { steps: [], look }, call));
  },
});
