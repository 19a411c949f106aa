import * as z from "zod";
import { path, tool } from "../context.ts";
import { infoAnswer } from "../files/read/info.ts";

export default tool({
  name: "get_file_info",
  title: "File information",
  description:
    "Get type, size, times, line count, encoding and hash of a file, directory or symlink, not its content.",
  effect: "read",
  openWorld: false,
  toolset: "read",
  input: z.strictObject({ path }),
  async run({ path }, files, call) {
    return infoAnswer(await files.info(path, call.signal));
  },
});
