import * as z from "zod";
import { path, tool } from "../context.ts";
import { readMedia } from "../files/read/media.ts";

export default tool({
  name: "read_media_file",
  title: "Read media file",
  description:
    "Return an image or an audio file; for text and documents use read_text_file. Other and very large files are " +
    "returned as links.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({ path }),
  run: ({ path }, files) => readMedia(files, path),
});
