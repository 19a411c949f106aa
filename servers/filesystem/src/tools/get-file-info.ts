import * as z from "zod";
import { path, tool } from "../context.ts";
import { getInfo } from "../files/read/info.ts";

export default tool({
  name: "get_file_info",
  title: "File information",
  description:
    "Get type, size, times, encoding, lines and hash of a file or symlink, and how much a directory contains. " +
    "summary adds its sizes by folder and its largest files.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({
    path,
    summary: z.boolean().default(false).describe("Summarize everything below a directory."),
  }),
  run({ path, summary }, files, call) {
    const progress = (done: number) => call.progress(done, undefined, "entries");
    return getInfo(files, path, { summary, signal: call.signal, progress });
  },
});
