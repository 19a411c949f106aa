import * as z from "zod";
import { changeTool as tool } from "../context.ts";
import { setRemote } from "../git/remote/address.ts";

export default tool({
  name: "git_set_remote",
  title: "Add or change a remote",
  description: "Add a remote or change its URL. Only git_fetch contacts it.",
  effect: "change",
  toolset: "remote",
  input: {
    remote: z.string().min(1).max(200).describe("Name, such as origin or upstream."),
    url: z.string().max(2_000).describe("https:// or ssh:// URL, or user@host:path."),
  },
  /** `before` is the previous URL. */
  output: z.object({ remote: z.string(), url: z.string(), before: z.string().optional() }),
  run: setRemote,
});
