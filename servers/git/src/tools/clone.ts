import * as z from "zod";
import { option, tool } from "../context.ts";
import { clone, cloned } from "../git/remote/transfer.ts";

export default tool({
  name: "git_clone",
  title: "Clone",
  description: "Clone a repository into a new directory. Submodules are not cloned.",
  effect: "add",
  openWorld: true,
  toolset: "remote",
  input: z.strictObject({
    url: z.string().min(1).max(2_000).describe("https:// or ssh:// URL, or user@host:path."),
    path: z.string().min(1).describe("New directory, inside an allowed one."),
    branch: option("Branch to check out."),
    depth: z.int().min(1).max(1_000_000).optional().describe("Only this many commits."),
  }),
  output: cloned,
  run: (query, git, call) => clone(git, query, call),
});
