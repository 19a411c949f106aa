import { createHash } from "node:crypto";
import { digits, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Files } from "../files.ts";
import { factsLine, onItsOwn } from "./facts-line.ts";
import { readText, type TextPart, textChars } from "./read-text.ts";

/** A file is shown with at least this many characters (or completely), or left for another call. */
const WORTH_SHOWING = 200;
/** The usual length of the line before a file, without its path, and of the first and last line. */
const FRAME_CHARS = 300;

/** One file of several: its text, or why it could not be read. */
type FileOfMany = { readonly path: string } & (
  | { readonly part: TextPart }
  | { readonly part?: undefined; readonly error: ToolError }
);

/**
 * Reads several text files, in order as far as they fit. A file that cannot be read does not affect the others.
 *
 * @returns the `files` in the requested order, and how many of the last paths did not fit at all (`hidden`)
 */
export async function readMany(
  files: Files,
  paths: readonly string[],
  { maxChars: chars, signal }: { maxChars: number; signal?: AbortSignal | undefined },
) {
  let remaining = Math.min(chars, textChars(0, true)) - FRAME_CHARS;
  const read: FileOfMany[] = [];
  for (const path of paths) {
    signal?.throwIfAborted();
    const frame = FRAME_CHARS + path.length;
    if (read.length > 0 && remaining < frame + WORTH_SHOWING) break;
    const maxChars = Math.max(WORTH_SHOWING, remaining - frame);
    try {
      const part = await readText(files, path, { maxChars, signal });
      read.push({ path, part });
      remaining -= frame + part.text.length;
    } catch (error) {
      if (!(error instanceof ToolError) || signal?.aborted) throw error;
      read.push({ path, error });
      remaining -= frame;
    }
  }
  return { files: read, hidden: paths.length - read.length };
}

/**
 * The answer with several files. The server's own line precedes each file's text and begins with a tag derived from all
 * the contents, so no file can contain such a line.
 */
export function framed({ files, hidden }: Awaited<ReturnType<typeof readMany>>): string {
  const hash = createHash("sha256");
  for (const { part } of files)
    hash.update(`${part?.text.length ?? -1}\n`).update(part?.text ?? "");
  const tag = `=== ${hash.digest("hex").slice(0, 16)}`;
  const total = files.length + hidden;
  const texts = files.map((file, index) => {
    const facts =
      file.part === undefined
        ? `[${oneLine(`Error: ${file.error.message} ${file.error.hint ?? ""}`).trim()}]`
        : factsLine(file.part);
    const text = file.part?.text ?? "";
    return `${tag} ${index + 1}/${total} ${oneLine(file.path)} ${facts}\n${text}${onItsOwn(text)}`;
  });
  const more =
    hidden === 0
      ? ""
      : ` [${digits(hidden)} more files did not fit. Ask for them in another call.]`;
  const first = `[Lines that begin with "${tag}" are the server's, before each file's text.]`;
  return `${first}\n${texts.join("")}${tag} end${more}`;
}
