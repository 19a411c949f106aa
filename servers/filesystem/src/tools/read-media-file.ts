import { sized } from "@refmcp/core/answer";
import * as z from "zod";
import { path, tool } from "../context.ts";
import { MOST_MEDIA_BYTES } from "../files/read/media.ts";

export default tool({
  name: "read_media_file",
  title: "Read media file",
  description:
    "Show an image or play a sound; for text and PDF use read_text_file. Other files are returned as links.",
  effect: "read",
  openWorld: false,
  toolset: "read",
  input: z.strictObject({ path }),
  async run({ path }, files) {
    const media = await files.readMedia(path);
    if (media.kind === "svg") return media.text;
    if (media.kind !== "link") {
      return [{ type: media.kind, data: media.bytes.toString("base64"), mimeType: media.mime }];
    }
    const { uri, name, mime, size } = media;
    const why = /^(image|audio)\//.test(mime)
      ? `more than the ${sized(MOST_MEDIA_BYTES)} that are shown`
      : "neither image nor sound";
    return [
      { type: "resource_link", uri, name, mimeType: mime, size },
      { type: "text", text: `[A link only: ${mime}, ${sized(size)}, ${why}. ${uri}]` },
    ];
  },
});
