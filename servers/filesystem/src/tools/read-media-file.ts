import { grouped, sized } from "@refmcp/boundary/answer";
import * as z from "zod";
import { path, tool } from "../context.ts";
import { readMedia } from "../files/read/media.ts";

export default tool({
  name: "read_media_file",
  title: "Read media file",
  description:
    "Return an image or an audio file; for text and documents use read_text_file. Large images are scaled down. Other files are " +
    "returned as links.",
  effect: "read",
  toolset: "read",
  input: z.strictObject({ path }),
  async run({ path }, files, call) {
    const media = await readMedia(files, path, call.signal);
    if (media.kind === "svg") return media.text;
    if (media.kind === "link") {
      const { uri, name, mime, size, why } = media;
      return [
        { type: "resource_link", uri, name, mimeType: mime, size },
        { type: "text", text: `[A link only: ${mime}, ${sized(size)}, ${why}. ${uri}]` },
      ];
    }
    const { kind, mime, scaled } = media;
    const data = Buffer.from(media.bytes).toString("base64");
    const shown = { type: kind, data, mimeType: mime } as const;
    if (scaled === undefined) return [shown];
    const [to, from] = [scaled.to, scaled.from].map(
      (one) => `${grouped(one.width)} × ${grouped(one.height)}`,
    );
    const text = `[Scaled to ${to} pixels (${mime}) from ${from} (${sized(scaled.from.size)}).]`;
    return [shown, { type: "text", text }];
  },
});
