import * as z from "zod";
import { path, tool } from "../context.ts";
import { infoAnswer } from "../files/read/info.ts";

export default tool({
  name: "get_file_info",
  title: "File information",
  description:
    "Get type, size, times, encoding, lines and hash of a file or symlink; of a directory also its file count and total size.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({ path }),
  async run({ path }, files, call) {
    return infoAnswer(await files.info(path, call.signal));
  },
});
