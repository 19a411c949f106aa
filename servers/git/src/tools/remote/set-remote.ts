import * as z from "zod";
import { changeTool as tool } from "../../context.ts";
import { setRemote } from "../../repository/remote/remote.ts";

export default tool({
  name: "git_set_remote",
  title: "Add or change a remote",
  description: "Add a remote, or change the URL of an existing one. Does not contact it; git_fetch does.",
  effect: "change",
  toolset: "remote",
  idempotent: true,
  input: {
    remote: z.string().min(1).max(200).describe("Name, such as origin or upstream."),
    url: z.string().min(1).max(2_000).describe("https:// or ssh:// URL, or user@host:path."),
  },
  output: z.object({ remote: z.string(), url: z.string(), before: z.string().optional() }),
  run: setRemote,
});
