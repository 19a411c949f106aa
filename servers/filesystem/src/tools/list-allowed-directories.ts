import * as z from "zod";
import { tool } from "../context.ts";

export default tool({
  name: "list_allowed_directories",
  title: "Allowed directories",
  description:
    "List the directories that may be touched, to know where to begin. Everything else is refused.",
  effect: "read",
  openWorld: false,
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
