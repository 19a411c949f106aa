import * as z from "zod";
import { tool } from "../context.ts";

export default tool({
  name: "list_allowed_directories",
  title: "Allowed directories",
  description: "List the directories that this server can read and write. Everything else is refused.",
  effect: "read",
  openWorld: false,
  toolset: "read",
  input: z.strictObject({}),
  output: z.object({
    directories: z.array(
      z.object({
        path: z.string(),
        source: z.string(),
        writable: z.boolean(),
        unavailable: z.string().optional(),
      }),
    ),
  }),
  run(_input, files) {
    return { directories: [...files.allowedDirectories()] };
  },
});
