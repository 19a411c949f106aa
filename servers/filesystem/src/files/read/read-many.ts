import { createHash } from "node:crypto";
import { grouped, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Files } from "../files.ts";
import { onItsOwn, partFacts, readText, type TextPart, textChars } from "./read-text.ts";

/** A file is shown with at least this many characters (or completely), or left for another call. */
const WORTH_SHOWING = 200;
/** With more files than this, the line about each is kept short. */
const FULL_FACTS_FILES = 20;
/** The usual length of the line before a file, without its path. */
const FRAME_CHARS = 300;
/** A placeholder for the tag of an answer, of the same length. */
const TAG = "=== 0123456789abcdef";
/** The maximum length of the first and the last line of the answer. */
const ENDS_CHARS = 300;

interface ReadManyOptions {
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

/** One file of several: its text, or why it could not be read. */
export type OneOfMany =
  | { readonly path: string; readonly part: TextPart; readonly error?: undefined }
  | { readonly path: string; readonly part?: undefined; readonly error: ToolError };

/**
 * Reads several text files, in order as far as they fit. A file that cannot be read does not affect the others.
 *
 * @returns the `files` in the requested order, how many of the last paths did not fit at all (`hidden`), and the common
 * directory of all paths with a trailing slash (`shared`), empty if naming it saves nothing.
 */
export async function readMany(
  files: Files,
  paths: readonly string[],
  { maxChars: chars, signal }: ReadManyOptions,
) {
  const maxChars = Math.min(chars, textChars(0, true));
  const shared = commonDirectory(paths);
  let left = maxChars - ENDS_CHARS - shared.length;
  const readOne = async (path: string): Promise<OneOfMany> => {
    signal?.throwIfAborted();
    const chars = Math.max(WORTH_SHOWING, left - FRAME_CHARS - path.length);
    try {
      return { path, part: await readText(files, path, { maxChars: chars, signal }) };
    } catch (error) {
      if (!(error instanceof ToolError) || signal?.aborted) throw error;
      return { path, error };
    }
  };
  const read: OneOfMany[] = [];
  for (const path of paths) {
    const file = await readOne(path);
    left -= frameOf(file, paths.length, shared).length + (file.part?.text.length ?? 0) + 1;
    if (left < 0 && read.length > 0) break;
    read.push(file);
  }
  return { files: read, hidden: paths.length - read.length, shared };
}

/** The directory that several paths have in common, if naming it once saves space. */
function commonDirectory(paths: readonly string[]): string {
  const [first = "", ...others] = paths;
  let end = others.length === 0 ? 0 : first.lastIndexOf("/") + 1;
  while (end > 0 && !others.every((path) => path.startsWith(first.slice(0, end)))) {
    end = first.lastIndexOf("/", end - 2) + 1;
  }
  return end > 1 ? first.slice(0, end) : "";
}

/** The line before a file's text, without its tag: number, path, and facts about it. */
function frameOf(
  { path, part, error }: OneOfMany,
  total: number,
  shared: string,
  index = total,
): string {
  const full = total <= FULL_FACTS_FILES;
  const head = `${TAG} ${index}/${total} ${oneLine(path.slice(shared.length))}`;
  // With many files, those that are shown whole need no facts.
  if (part !== undefined && !full && part.ends && part.startLine === 1) return `${head}\n`;
  return `${head} [${part === undefined ? errorText(error) : partFacts(part, full)}]\n`;
}

function errorText(error: ToolError): string {
  return oneLine(`Error: ${error.message} ${error.hint ?? ""}`).trim();
}

/**
 * The answer with several files. The server's own line precedes each file's text and begins with a tag derived from all
 * the contents, so no file can contain such a line.
 */
export function framed({ files, hidden, shared }: Awaited<ReturnType<typeof readMany>>): string {
  const hash = createHash("sha256");
  for (const { part } of files)
    hash.update(`${part?.text.length ?? -1}\n`).update(part?.text ?? "");
  const tag = `=== ${hash.digest("hex").slice(0, 16)}`;
  const total = files.length + hidden;
  const lines = files.map((file, index) => {
    const head = frameOf(file, total, shared, index + 1).replace(TAG, tag);
    const text = file.part?.text ?? "";
    return `${head}${text}${onItsOwn(text)}`;
  });
  const more =
    hidden === 0
      ? ""
      : ` [${grouped(hidden)} more files did not fit. Ask for them in another call, or raise max_chars.]`;
  const below = shared === "" ? "" : ` Paths are below ${oneLine(shared)}.`;
  return `[Lines that begin with "${tag}" are the server's, before each file's text.${below}]\n${lines.join("")}${tag} end${more}`;
}
