import * as z from "zod";
import { path, tool } from "../context.ts";
import { permissionsOf } from "../files/read/info.ts";

export default tool({
  name: "get_file_info",
  title: "File information",
  description:
    "Tell type, size, times, line count and hash of a file, directory or link, without its content. " +
    "A link is followed where it leads to an allowed directory.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({ path }),
  output: z.object({
    path: z.string(),
    type: z.string(),
    link_target: z.string().optional(),
    link_inside: z.boolean().optional(),
    size: z.number(),
    mime: z.string().optional(),
    encoding: z.string().optional(),
    line_ends: z.string().optional(),
    lines: z.number().optional(),
    hash: z.string().optional(),
    hard_links: z.number().optional(),
    permissions: z.string(),
    writable: z.boolean(),
    created: z.string(),
    modified: z.string(),
    accessed: z.string(),
  }),
  async run({ path }, files, call) {
    const { stat, form, link, ...info } = await files.info(path, call.signal);
    return {
      ...info,
      link_target: link?.target,
      link_inside: link?.inside,
      size: stat.size,
      encoding: form?.encoding,
      line_ends: form?.eol,
      hard_links: info.type === "file" && stat.nlink > 1 ? stat.nlink : undefined,
      permissions: permissionsOf(stat),
      created: stat.birthtime.toISOString(),
      modified: stat.mtime.toISOString(),
      accessed: stat.atime.toISOString(),
    };
  },
});
