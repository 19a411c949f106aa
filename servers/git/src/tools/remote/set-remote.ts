import * as z from "zod";
import { repoPath, tool } from "../../context.ts";
import { setRemote } from "../../repository/remote/remote.ts";

export default tool({
  name: "git_set_remote",
  title: "Add or change a remote",
  description: "Add a remote, or change the URL of an existing one. Does not contact it; git_fetch does.",
  effect: "change",
  openWorld: false,
  toolset: "remote",
  idempotent: true,
  input: z.strictObject({
    repo_path: repoPath,
    remote: z.string().min(1).max(200).describe("Name, such as origin or upstream."),
    url: z.string().min(1).max(2_000).describe("https:// or ssh:// URL, or user@host:path."),
  }),
  output: z.object({ remote: z.string(), url: z.string(), before: z.string().optional() }),
  run: ({ repo_path, ...query }, git, call) =>
    git.change(repo_path, call.signal, (repository) => setRemote(git, repository, query)),
});
