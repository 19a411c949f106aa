import { readdir } from "node:fs/promises";
import { basename, posix } from "node:path";
import { digits, oneLine } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { orRefused, withDirectory, withFile } from "../open-path.ts";
import { readAt, tooLarge } from "./bytes.ts";
import { formOf, sourceOf } from "./lines.ts";
import { MAX_MEDIA_BYTES, textTypeOf, typeOf } from "./media.ts";
import { readText } from "./read-text.ts";
import { decode } from "./text-encoding.ts";

const MAX_TEXT_BYTES = 1024 * 1024;
/** How many lines of a large log are offered. */
const LISTED_LINES = 200;
const MAX_TAIL_LINES = 10_000;
const MAX_TAIL_CHARS = 500_000;
/** The protocol's limit on suggestions. */
const MAX_SUGGESTIONS = 100;

/**
 * Reads a whole file, for clients that cannot request a part.
 *
 * @throws ToolError `too_large` for more than 1 MiB of text or 3.75 MB of bytes, and what the guard throws.
 */
export async function readWhole(
  { guard }: Files,
  path: string,
): Promise<{ text: string; mime: string } | { bytes: Buffer; mime: string }> {
  return withFile(guard, path, async (file) => {
    const { mime, text } = await typeOf(file);
    const { size } = file.stat;
    const max = text ? MAX_TEXT_BYTES : MAX_MEDIA_BYTES;
    if (size > max) {
      const hint = text
        ? "Read its last lines by appending ?tail=200 to the URI, or use read_text_file with offset and limit."
        : "Read it with another program.";
      throw tooLarge(file.path, [size, max], "are read as a resource", hint);
    }
    const form = text ? formOf(await sourceOf(file)) : undefined;
    const bytes = await readAt(file, 0, size);
    return form === undefined ? { bytes, mime } : { text: decode(bytes, form), mime };
  });
}

/**
 * How a file of this size is read as a resource: the query of its URI, which is empty for the whole file and `?tail=…` for
 * a large text; undefined if it is too large.
 */
export function resourceQuery(path: string, size: number): "" | `?tail=${number}` | undefined {
  if (size <= MAX_TEXT_BYTES) return "";
  if (textTypeOf(basename(path)) !== undefined) return `?tail=${LISTED_LINES}`;
  return size <= MAX_MEDIA_BYTES ? "" : undefined;
}

/**
 * Reads the last lines of a text file of any size, for clients that follow a log.
 *
 * @param lines how many, as in the URI: 1 to 10,000.
 * @throws ToolError `invalid` for another number or a binary file, and what the guard throws.
 */
export async function readTail(
  files: Files,
  path: string,
  lines: string,
): Promise<{ text: string; mime: string }> {
  const tail = /^\d{1,5}$/.test(lines) ? Number(lines) : 0;
  if (tail < 1 || tail > MAX_TAIL_LINES) {
    const allowed = `Use a number from 1 to ${digits(MAX_TAIL_LINES)}, as in ?tail=200.`;
    throw failure("bad_tail", `tail=${oneLine(lines.slice(0, 40))} is not a number of lines.`, {
      hint: allowed,
    });
  }
  const { text } = await readText(files, path, { tail, maxChars: MAX_TAIL_CHARS });
  return { text, mime: textTypeOf(basename(path)) ?? "text/plain" };
}

/**
 * Absolute paths that begin with `typed`: entries of its directory, directories with a trailing slash, or the allowed
 * directories themselves if it is not inside one yet.
 *
 * @param typed with `/` between components, also on Windows.
 */
export async function completePath({ guard }: Files, typed: string): Promise<string[]> {
  const allowed = guard.allowed.directories().map(({ path }) => path.replaceAll("\\", "/"));
  const above = allowed.filter((path) => path.startsWith(typed)).map((path) => `${path}/`);
  if (above.length > 0) return above.slice(0, MAX_SUGGESTIONS);
  const folder = posix.dirname(`${typed}x`);
  const start = typed.slice(typed.lastIndexOf("/") + 1);
  const content = await withDirectory(guard, folder, async (directory) => {
    const entries = await readdir(directory.entry(""), { withFileTypes: true });
    return entries
      .filter((entry) => entry.name.startsWith(start))
      .map((entry) => posix.join(folder, entry.name) + (entry.isDirectory() ? "/" : ""))
      .sort()
      .slice(0, MAX_SUGGESTIONS);
  }).catch(orRefused);
  // No suggestions outside the allowed directories, or if it is not a directory.
  return content ?? [];
}
