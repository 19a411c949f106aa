import { createHash } from "node:crypto";
import type { PathGuard } from "@refmcp/boundary";
import { clip, fitting, grouped, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Documents } from "./documents.ts";
import { onItsOwn, partFacts, readText, type TextPart } from "./read-text.ts";

/** How many files are read at once, and before checking whether more would fit. */
const AT_ONCE = 16;
const BATCH = 64;
/** Maximum characters of all files together before they are cut to their shares. */
const HELD_CHARS = 16_000_000;
/** A file is shown with at least this many characters (or completely), or left for another call. */
const WORTH_SHOWING = 200;
/** With more files than this, the line about each is kept short. */
const FULL_FACTS_FILES = 20;
/** Additional characters in the line of a truncated file, which says how to continue. */
const CUT_CHARS = 120;
/** A placeholder for the tag of an answer, of the same length. */
const TAG = "=== 0123456789abcdef";
/** The maximum length of the first and the last line of the answer. */
const ENDS_CHARS = 300;

export interface ReadManyOptions {
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

/** One file of several: its text, or why it could not be read. */
export type OneOfMany =
  | { readonly path: string; readonly part: TextPart; readonly error?: undefined }
  | { readonly path: string; readonly part?: undefined; readonly error: ToolError };

/**
 * Reads several text files. A file that cannot be read does not affect the others. Space is shared fairly: what short
 * files do not need is divided equally among the longer ones.
 *
 * @returns the `files` in the requested order, how many of the last paths did not fit at all (`hidden`), and the common
 * directory of all paths with a trailing slash (`shared`), empty if naming it saves nothing.
 */
export async function readMany(
  guard: PathGuard,
  paths: readonly string[],
  options: ReadManyOptions,
  documents?: Documents,
) {
  const max = Math.min(
    options.maxChars,
    Math.max(WORTH_SHOWING, Math.floor(HELD_CHARS / paths.length)),
  );
  const shared = commonDirectory(paths);
  const available = options.maxChars - ENDS_CHARS - shared.length;
  const frames = new Map<OneOfMany, number>();
  const frameChars = (file: OneOfMany) => {
    const known = frames.get(file);
    const chars =
      known ??
      frameOf(file, paths.length, shared).length + (charsOf(file) > WORTH_SHOWING ? CUT_CHARS : 0);
    if (known === undefined) frames.set(file, chars);
    return chars;
  };
  const files: OneOfMany[] = [];
  let count = 0;
  // Files that no longer fit are not read at all.
  while (files.length < paths.length && count === files.length) {
    const next = paths.slice(files.length, files.length + BATCH);
    files.push(
      ...(await parallel(next, AT_ONCE, async (path): Promise<OneOfMany> => {
        options.signal?.throwIfAborted();
        try {
          const part = await readText(
            guard,
            path,
            { maxChars: max, signal: options.signal },
            documents,
          );
          return { path, part };
        } catch (error) {
          if (!(error instanceof ToolError) || options.signal?.aborted) throw error;
          return { path, error };
        }
      })),
    );
    count = fitting(
      files,
      available,
      (file) => frameChars(file) + Math.min(charsOf(file), WORTH_SHOWING),
    );
  }
  const shown = files.slice(0, count);
  const remaining = shown.reduce((left, file) => left - frameChars(file), available);
  const shares = sharesOf(shown.map(charsOf), Math.max(0, remaining));
  return {
    files: shown.map(
      (file, index): OneOfMany =>
        file.part === undefined
          ? file
          : { path: file.path, part: shortened(file.part, shares[index] ?? 0) },
    ),
    hidden: paths.length - count,
    shared,
  };
}

function charsOf(file: OneOfMany): number {
  return file.part?.text.length ?? 0;
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

/** Divides space so that none gets more than it needs, and all that need more get equal shares. */
export function sharesOf(wants: readonly number[], remaining: number): number[] {
  const shares = wants.map(() => 0);
  const order = [...wants.entries()].sort(([, a], [, b]) => a - b);
  let left = remaining;
  for (const [place, [index, want]] of order.entries()) {
    const share = Math.min(want, Math.floor(left / (order.length - place)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/** Cuts a part to its first lines with at most `max` characters, or to the beginning of its first line. */
function shortened(part: TextPart, max: number): TextPart {
  if (part.text.length <= max) return part;
  const end = part.eol === "cr" ? "\r" : "\n";
  const rest = { ...part, ends: false, closed: undefined };
  const cut = part.text.lastIndexOf(end, max - 1) + 1;
  if (cut > 0) {
    const text = part.text.slice(0, cut);
    const lines = text.split(end).length - 1;
    return { ...rest, text, lines, next: { offset: lines + 1, column: 1 }, missing: undefined };
  }
  const text = clip(part.text, Math.max(2, max));
  const lineEnd = part.text.indexOf(end);
  const beyond = lineEnd === -1 ? part.missing : undefined;
  const left = (lineEnd === -1 ? part.text.length : lineEnd) - text.length;
  const missing = { chars: left + (beyond?.chars ?? 0), exact: beyond?.exact ?? true };
  return { ...rest, text, lines: 1, next: { offset: 1, column: text.length + 1 }, missing };
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

/**
 * Runs `work` on every item, at most `max` at the same time.
 *
 * @returns the results in the order of the items.
 */
export async function parallel<Item, Result>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Map<number, Result>();
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) results.set(index, await work(item));
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, worker));
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}
