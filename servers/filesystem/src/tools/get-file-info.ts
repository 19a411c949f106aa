import * as z from "zod";
import { path, tool } from "../context.ts";
import { getInfo, infoAnswer } from "../files/read/info.ts";
import { summarize, summaryAnswer } from "../files/read/summary.ts";

export default tool({
  name: "get_file_info",
  title: "File information",
  description:
    "Get type, size, times, encoding, lines and hash of a file or symlink, and how much a directory contains. " +
    "summary adds sizes by folder, kind and year, largest, oldest and newest files, and duplicates.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({
    path,
    summary: z.boolean().default(false).describe("Summarize everything below a directory."),
  }),
  async run({ path, summary }, files, call) {
    const { signal } = call;
    const progress = (done: number) => call.progress(done, undefined, "entries");
    if (summary) return summaryAnswer(await summarize(files, path, { signal, progress }));
    return infoAnswer(await getInfo(files, path, { signal, progress }));
  },
});
