import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { GuardedFile } from "@refmcp/boundary";
import { grouped, sized } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { withFile } from "../open-path.ts";
import { readAt } from "./bytes.ts";
import { textTypeOf } from "./file-kinds.ts";
import { formOf, sourceOf } from "./lines.ts";
import { decode, detect, SAMPLE_BYTES } from "./text-encoding.ts";

/** Maximum bytes of an image or audio in an answer: 5 MB as base64, the limit of models for an image. */
export const MAX_MEDIA_BYTES = 3_750_000;
/** Maximum side of an image in pixels; models refuse larger ones. */
const MAX_SIDE = 8_000;
/** Images with more pixels are not decoded, whatever the file size, since each pixel takes at least four bytes. */
const MAX_PIXELS = 64_000_000;
const MAX_SCALED_BYTES = 64 * 1024 * 1024;
const MAX_SVG_BYTES = 60_000;

interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** A binary file: its content, for an SVG as text, or if it cannot be shown, a link to it and why. */
export type Media = { readonly path: string } & (
  | {
      readonly kind: "image" | "audio";
      readonly mime: string;
      readonly bytes: Uint8Array;
      /** The dimensions before and after scaling; undefined if the bytes are unchanged. */
      readonly scaled?: { from: PictureSize & { size: number }; to: PictureSize };
    }
  | { readonly kind: "svg"; readonly text: string }
  | {
      readonly kind: "link";
      readonly name: string;
      readonly uri: string;
      readonly mime: string;
      readonly size: number;
      readonly why: string;
    }
);

/**
 * Reads an image, audio or another binary file. A JPEG or PNG that is too large for an answer is scaled in a thread.
 *
 * @throws ToolError `invalid` for text, and what `PathGuard.openFile` throws.
 */
export async function readMedia(
  { guard, threads }: Files,
  given: string,
  signal?: AbortSignal,
): Promise<Media> {
  return withFile(guard, given, async (file): Promise<Media> => {
    const { mime, text } = await typeOf(file);
    const { path } = file;
    const { size } = file.stat;
    if (text && /\.svg$/i.test(path) && size <= MAX_SVG_BYTES) {
      const form = await formOf(await sourceOf(file));
      const bytes = await readAt(file, 0, size);
      return { kind: "svg", path, text: form === undefined ? "" : decode(bytes, form) };
    }
    if (text) {
      const what = `${named(path)} is text (${mime})`;
      throw failure("not_binary", `${what}, not an image, audio or other binary file.`);
    }
    const kind = /^(image|audio)\//.exec(mime)?.[1];
    const link = (why: string): Media => {
      return {
        kind: "link",
        path,
        name: basename(path),
        uri: pathToFileURL(path).href,
        mime,
        size,
        why,
      };
    };
    if (kind !== "image" && kind !== "audio") return link("neither image nor audio");
    const isScalable = mime === "image/jpeg" || mime === "image/png";
    const max = isScalable ? MAX_SCALED_BYTES : MAX_MEDIA_BYTES;
    if (size > max)
      return link(`more than the ${sized(max)} that can be ${isScalable ? "scaled" : "shown"}`);
    const bytes = await readAt(file, 0, size);
    const from = isScalable ? await pictureSize(bytes) : undefined;
    if (
      size <= MAX_MEDIA_BYTES &&
      (from === undefined || Math.max(from.width, from.height) <= MAX_SIDE)
    ) {
      return { kind, path, mime, bytes };
    }
    if (from === undefined) return link("its dimensions cannot be read, so it was not scaled");
    if (from.width * from.height > MAX_PIXELS) {
      const pixels = `${grouped(from.width)} × ${grouped(from.height)} pixels`;
      return link(`${pixels}, more than the ${grouped(MAX_PIXELS)} that can be decoded`);
    }
    // The decoder has no size limit for interlaced PNGs.
    if (mime === "image/png" && bytes[28] === 1)
      return link("too large, and interlaced PNGs are not scaled");
    const work = { bytes, maxPixels: MAX_PIXELS, maxBytes: MAX_MEDIA_BYTES };
    const scaled = await threads.run("picture", work, signal);
    if (scaled === undefined) return link("too large, and damaged, so it was not scaled");
    const { width, height, ...picture } = scaled;
    return { kind, path, ...picture, scaled: { from: { ...from, size }, to: { width, height } } };
  });
}

/** The dimensions in the header, after rotation; undefined if damaged. */
async function pictureSize(bytes: Buffer): Promise<PictureSize | undefined> {
  const { imageSize } = await import("image-size");
  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    return orientation > 4 ? { width: height, height: width } : { width, height };
  } catch {
    return undefined;
  }
}

/** The MIME type by content, and whether read_text_file can read it as text. */
export async function typeOf(file: GuardedFile): Promise<{ mime: string; text: boolean }> {
  const sample = await readAt(file, 0, Math.min(file.stat.size, SAMPLE_BYTES));
  const text = detect(sample, { whole: sample.length === file.stat.size }) !== undefined;
  // Loaded on first use, because it is large.
  const { fileTypeFromBuffer } = await import("file-type");
  const found = await fileTypeFromBuffer(sample);
  return {
    mime:
      found?.mime ??
      (text ? (textTypeOf(basename(file.path)) ?? "text/plain") : "application/octet-stream"),
    text,
  };
}
