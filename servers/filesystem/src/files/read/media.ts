import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { GuardedFile } from "@refmcp/boundary";
import { sizeOf } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { withFile } from "../open-path.ts";
import { readAt } from "./bytes.ts";
import { formOfText, SAMPLE_BYTES, textOf } from "./text-encoding.ts";

/** Maximum bytes of an image or audio in an answer: 5 MB as base64, the limit of models for an image. */
export const MAX_MEDIA_BYTES = 3_750_000;
const MAX_SVG_BYTES = 60_000;

/**
 * Reads an image, audio or another binary file: its content, an SVG as text, and what cannot be shown as a link.
 *
 * @throws ToolError `invalid` for text, and what `PathGuard.openFile` throws.
 */
export async function readMedia({ guard }: Pick<Files, "guard">, pathText: string) {
  return withFile(guard, pathText, async (file) => {
    const { mime, text } = await typeOf(file);
    const { path } = file;
    const { size } = file.stat;
    if (text && /\.svg$/i.test(path) && size <= MAX_SVG_BYTES)
      return textOf(await readAt(file, 0, size))?.text ?? "";
    if (text) {
      const what = `${named(path)} is text (${mime})`;
      throw failure("not_binary", `${what}, not an image, audio or other binary file.`);
    }
    const type = mime.startsWith("image/")
      ? "image"
      : mime.startsWith("audio/")
        ? "audio"
        : undefined;
    if (type !== undefined && size <= MAX_MEDIA_BYTES) {
      const data = (await readAt(file, 0, size)).toString("base64");
      return [{ type, data, mimeType: mime } as const];
    }
    const uri = pathToFileURL(path).href;
    const why =
      type === undefined
        ? "neither image nor audio"
        : `more than the ${sizeOf(MAX_MEDIA_BYTES)} that can be shown; scale it down with another program first`;
    return [
      { type: "resource_link" as const, uri, name: basename(path), mimeType: mime, size },
      { type: "text" as const, text: `[A link only: ${mime}, ${sizeOf(size)}, ${why}. ${uri}]` },
    ];
  });
}

/** The MIME type by content, and whether read_text_file can read it as text. */
export async function typeOf(file: GuardedFile): Promise<{ mime: string; text: boolean }> {
  const sample = await readAt(file, 0, Math.min(file.stat.size, SAMPLE_BYTES));
  const text = formOfText(sample, { whole: sample.length === file.stat.size }) !== undefined;
  // Loaded on first use, because it is large.
  const { fileTypeFromBuffer } = await import("file-type");
  const type = await fileTypeFromBuffer(sample);
  const textType = textTypeOf(basename(file.path)) ?? "text/plain";
  return { mime: type?.mime ?? (text ? textType : "application/octet-stream"), text };
}

/** MIME types of text files, which have no signature: registered ones, otherwise those that editors use. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  "text/markdown": "md markdown",
  "text/html": "html htm",
  "text/css": "css",
  "text/csv": "csv",
  "text/javascript": "js mjs cjs jsx",
  "text/typescript": "ts mts cts tsx",
  "text/x-python": "py",
  "text/x-rust": "rs",
  "text/x-go": "go",
  "text/x-java": "java",
  "text/x-c": "c h",
  "text/x-c++": "cc cpp hpp",
  "text/x-shellscript": "sh bash zsh",
  "text/x-sql": "sql",
  "text/x-log": "log",
  "text/calendar": "ics",
  "message/rfc822": "eml",
  "application/json": "json",
  "application/yaml": "yaml yml",
  "application/toml": "toml",
  "application/xml": "xml",
};
const BY_EXTENSION = new Map(
  Object.entries(TEXT_TYPES).flatMap(([type, extensions]) =>
    extensions.split(" ").map((extension) => [extension, type] as const),
  ),
);

/** The MIME type of a text file, by its extension; undefined if unknown. */
export function textTypeOf(name: string): string | undefined {
  return BY_EXTENSION.get(/[^/\\]\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase() ?? "");
}
