import * as z from "zod";
import { session, tool } from "../context.ts";

export default tool({
  name: "pw_browse_close",
  title: "Close a browser session",
  description:
    "Close an open session and its browser. Sessions also close after 10 minutes without a call.",
  toolset: "browse",
  effect: "change",
  openWorld: false,
  input: z.strictObject({ session }),
  async run({ session: name }, { sessions }) {
    await sessions.close(name);
    return `The session ${name} is closed.`;
  },
});
