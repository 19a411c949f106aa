import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { oneLine, ToolError } from "@refmcp/core/answer";
import type { GuardedFile, PathGuard } from "@refmcp/core/boundary";
import { formOf, readAt, sourceOf } from "./source.ts";
import { decode, detect, SAMPLE_BYTES } from "./text-encoding.ts";

/** The largest image or sound that goes into an answer, in bytes: 5 MB as base64, what models take of an image. */
export const MOST_MEDIA_BYTES = 3_750_000;

/** The largest SVG that is shown as a whole, in bytes. */
const MAX_SVG_BYTES = 60_000;

/** A binary file: its content, or where it is not an image or sound of a fitting size, a link to it. */
export type Media =
  | { readonly kind: "image" | "audio"; readonly path: string; readonly mime: string; readonly bytes: Buffer }
  /** A picture that is text itself. */
  | { readonly kind: "svg"; readonly path: string; readonly text: string }
  | {
      readonly kind: "link";
      readonly path: string;
      readonly name: string;
      readonly uri: string;
      readonly mime: string;
      /** Bytes. */
      readonly size: number;
    };

/**
 * Reads an image, a sound or another binary file.
 *
 * @throws ToolError `invalid` for text, and what `PathGuard.openFile` throws.
 */
export async function readMedia(guard: PathGuard, path: string): Promise<Media> {
  const file = await guard.openFile(path);
  try {
    const { mime, text } = await typeOf(file);
    if (text && /\.svg$/i.test(file.path) && file.stat.size <= MAX_SVG_BYTES) {
      const form = await formOf(await sourceOf(file));
      const bytes = await readAt(file, 0, file.stat.size);
      return { kind: "svg", path: file.path, text: form === undefined ? "" : decode(bytes, form) };
    }
    if (text) {
      throw new ToolError(
        "invalid",
        `"${oneLine(file.path)}" is text (${mime}), not an image, a sound or another binary file.`,
        {
          hint: "Use read_text_file.",
        },
      );
    }
    const { size } = file.stat;
    const kind = /^(image|audio)\//.exec(mime)?.[1];
    if ((kind === "image" || kind === "audio") && size <= MOST_MEDIA_BYTES) {
      return { kind, path: file.path, mime, bytes: await readAt(file, 0, size) };
    }
    const uri = pathToFileURL(file.path).href;
    return { kind: "link", path: file.path, name: basename(file.path), uri, mime, size };
  } finally {
    await file.handle.close();
  }
}

/** The MIME type by content, and whether it is text that read_text_file reads. */
export async function typeOf(file: GuardedFile): Promise<{ mime: string; text: boolean }> {
  const sample = await readAt(file, 0, Math.min(file.stat.size, SAMPLE_BYTES));
  const text = detect(sample, { whole: sample.length === file.stat.size }) !== undefined;
  // Loaded on first use: it knows some 200 formats.
  const { fileTypeFromBuffer } = await import("file-type");
  const found = await fileTypeFromBuffer(sample);
  return { mime: found?.mime ?? (text ? "text/plain" : "application/octet-stream"), text };
}
