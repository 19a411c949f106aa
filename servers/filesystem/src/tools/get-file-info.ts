import * as z from "zod";
import { path, tool } from "../context.ts";
import { getInfo } from "../files/read/info.ts";

export default tool({
  name: "get_file_info",
  title: "File information",
  description:
    "Get type, size, times, encoding, lines and hash of a file or symlink. " +
    "Of a directory: how much it contains, and its largest folders.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({ path }),
  run({ path }, files, call) {
    const progress = (done: number) => call.progress(done, undefined, "entries");
    return getInfo(files, path, { signal: call.signal, progress });
  },
});
