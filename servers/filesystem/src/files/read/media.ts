import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { GuardedFile, PathGuard } from "@refmcp/boundary";
import { grouped, oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { withFile } from "../open-path.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import { formOf, readAt, sourceOf } from "./source.ts";
import { decode, detect, SAMPLE_BYTES } from "./text-encoding.ts";

/** Maximum bytes of an image or audio in an answer: 5 MB as base64, the limit of models for an image. */
export const MAX_MEDIA_BYTES = 3_750_000;

/** Maximum side of an image in pixels; models refuse larger ones. */
const MAX_SIDE = 8_000;
/** Images with more pixels are not decoded, whatever the file size, since each pixel takes at least four bytes. */
const MAX_PIXELS = 64_000_000;
/** Maximum bytes of an image file that is scaled. */
const MAX_SCALED_BYTES = 64 * 1024 * 1024;
/** Time limit for scaling, in milliseconds. */
const SCALE_MS = 40_000;

/** Maximum bytes of an SVG that is shown in full. */
const MAX_SVG_BYTES = 60_000;

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The dimensions of an image before and after scaling. */
export interface Scaling {
  readonly from: PictureSize & { readonly size: number };
  readonly to: PictureSize;
}

/** A binary file: its content or, if that cannot be shown, a link to it. */
export type Media =
  | {
      readonly kind: "image" | "audio";
      readonly path: string;
      readonly mime: string;
      readonly bytes: Uint8Array;
      /** Undefined if the bytes are unchanged. */
      readonly scaled?: Scaling | undefined;
    }
  /** An SVG, returned as text. */
  | { readonly kind: "svg"; readonly path: string; readonly text: string }
  | {
      readonly kind: "link";
      readonly path: string;
      readonly name: string;
      readonly uri: string;
      readonly mime: string;
      /** Bytes. */
      readonly size: number;
      /** Why only a link is returned. */
      readonly why: string;
    };

/**
 * Reads an image, audio or another binary file. A JPEG or PNG that is too large for an answer is scaled in a thread.
 *
 * @throws ToolError `invalid` for text, and what `PathGuard.openFile` throws.
 */
export async function readMedia(
  { guard, threads }: { guard: PathGuard; threads: ThreadPool },
  path: string,
  signal?: AbortSignal,
): Promise<Media> {
  return withFile(guard, path, async (file): Promise<Media> => {
    const { mime, text } = await typeOf(file);
    if (text && /\.svg$/i.test(file.path) && file.stat.size <= MAX_SVG_BYTES) {
      const form = await formOf(await sourceOf(file));
      const bytes = await readAt(file, 0, file.stat.size);
      return { kind: "svg", path: file.path, text: form === undefined ? "" : decode(bytes, form) };
    }
    if (text) {
      throw new ToolError(
        "invalid",
        `"${oneLine(file.path)}" is text (${mime}), not an image, audio or other binary file.`,
        { hint: "Use read_text_file." },
      );
    }
    const { size } = file.stat;
    const kind = /^(image|audio)\//.exec(mime)?.[1];
    const link = (why: string): Media => {
      const uri = pathToFileURL(file.path).href;
      return { kind: "link", path: file.path, name: basename(file.path), uri, mime, size, why };
    };
    if (kind !== "image" && kind !== "audio") return link("neither image nor audio");
    const isScalable = mime === "image/jpeg" || mime === "image/png";
    const max = isScalable ? MAX_SCALED_BYTES : MAX_MEDIA_BYTES;
    if (size > max) return link(`more than the ${sized(max)} that can be ${isScalable ? "scaled" : "shown"}`);
    const bytes = await readAt(file, 0, size);
    const from = isScalable ? await pictureSize(bytes) : undefined;
    if (size <= MAX_MEDIA_BYTES && (from === undefined || Math.max(from.width, from.height) <= MAX_SIDE)) {
      return { kind, path: file.path, mime, bytes };
    }
    if (from === undefined) return link("its dimensions cannot be read, so it was not scaled");
    if (from.width * from.height > MAX_PIXELS) {
      const pixels = `${grouped(from.width)} × ${grouped(from.height)} pixels`;
      return link(`${pixels}, more than the ${grouped(MAX_PIXELS)} that can be decoded`);
    }
    // The decoder has no size limit for interlaced PNGs.
    if (mime === "image/png" && bytes[28] === 1) return link("too large, and interlaced PNGs are not scaled");
    const work = { bytes, maxPixels: MAX_PIXELS, maxBytes: MAX_MEDIA_BYTES };
    const scaled = await threads.runWithin(SCALE_MS, tooSlow, "picture", work, signal);
    if (scaled === undefined) return link("too large, and damaged, so it was not scaled");
    const { width, height, ...picture } = scaled;
    return { kind, path: file.path, ...picture, scaled: { from: { ...from, size }, to: { width, height } } };
  });
}

function tooSlow(): ToolError {
  return new ToolError("timeout", `Scaling the image took longer than ${SCALE_MS / 1000} s.`, {
    hint: "Ask the user for a smaller copy.",
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
  return { mime: found?.mime ?? (text ? "text/plain" : "application/octet-stream"), text };
}
