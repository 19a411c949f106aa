import { clip, digits, HARD_ANSWER_CHARS } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { withFile } from "../open-path.ts";
import { binary, hashOf } from "./bytes.ts";
import { formOf, Lines, sourceOf, wholeSource } from "./lines.ts";
import type { Encoding, TextForm } from "./text-encoding.ts";

const FACTS_CHARS = 600;
/** Characters of text that are returned however small the budget is. */
const MIN_CHARS = 500;
/** A position further into a line is not searched for. */
const MAX_COLUMN = 64 * 1024 * 1024;
/** Characters of most lines. */
const USUAL_CHARS = 200;

/** Characters of text for a call: its budget, or as much as hosts show if it asks for a range. */
export function textChars(budget: number, isRange: boolean): number {
  const most = HARD_ANSWER_CHARS - FACTS_CHARS;
  return isRange ? most : Math.max(MIN_CHARS, Math.min(budget - FACTS_CHARS, most));
}

/** Which part of a file to read: the first lines, the last lines, or lines from `offset`; by default from the start. */
interface ReadTextOptions {
  readonly head?: number | undefined;
  readonly tail?: number | undefined;
  /** First line, from 1. */
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  /** First character of the line at `offset`, from 1; for a line longer than an answer. */
  readonly column?: number | undefined;
  readonly lineNumbers?: boolean | undefined;
  readonly encoding?: Encoding | undefined;
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

export interface TextPart extends TextForm {
  readonly path: string;
  /** The file's text (with line numbers if requested), with its original line endings and without a byte order mark. */
  readonly text: string;
  readonly size: number;
  /** Whether it is a document that was converted to text. */
  readonly isDocument: boolean;
  /** The hash of the whole file; known up to 8 MiB. */
  readonly hash: string | undefined;
  /** Number of the first line shown; unknown at the end of a large file. */
  readonly startLine: number | undefined;
  readonly lines: number;
  /** Lines of the whole file; known up to 8 MiB, or if the end was reached. */
  readonly totalLines: number | undefined;
  readonly ends: boolean;
  readonly next: { readonly offset: number; readonly column: number } | undefined;
  /** Whether a line is longer than the answer, and only a part of it is shown. */
  readonly isCut: boolean;
  /** For `tail`: how many of the requested lines did not fit. */
  readonly leftOut: number;
}

/**
 * Reads a part of a text file, or of the text of a document. Memory and time are bounded by `maxChars`, not by the file's
 * size; only an `offset` deep in a large file must be searched for.
 *
 * @throws ToolError `invalid` for a binary file, an offset past the end or a contradictory range; `too_large` for an
 *   offset beyond 1 GiB; and what `PathGuard.openFile` throws.
 */
export async function readText(
  { guard, documents }: Pick<Files, "guard" | "documents">,
  path: string,
  options: ReadTextOptions,
): Promise<TextPart> {
  checkRange(options);
  return withFile(guard, path, async (file) => {
    const { encoding, signal } = options;
    const source = await sourceOf(file);
    const { size, whole } = source;
    const facts = { path: file.path, size, hash: whole && hashOf(whole) };
    // With an explicit encoding, the bytes are read as text.
    const document =
      encoding === undefined ? await documents.textOf(file, signal, source.start) : undefined;
    if (document !== undefined) {
      const form = { encoding: "utf-8", bom: false, damaged: false, eol: "lf" } as const;
      const lines = new Lines(wholeSource(Buffer.from(document.text)), form, signal);
      return { ...facts, ...form, isDocument: true, ...(await partOf(lines, options)) };
    }
    const form = formOf(source, encoding);
    if (form === undefined) throw binary(file.path);
    const part = await partOf(new Lines(source, form, signal), options);
    return { ...facts, ...form, isDocument: false, ...part };
  });
}

type Part = Omit<TextPart, "path" | "size" | "hash" | "isDocument" | keyof TextForm>;

async function partOf(lines: Lines, options: ReadTextOptions): Promise<Part> {
  const { offset = 1, tail, lineNumbers } = options;
  const isNumbered = tail !== undefined && lineNumbers === true;
  const isCounted = lines.source.whole !== undefined || isNumbered;
  const total = isCounted ? await lines.count() : undefined;
  if (tail === undefined) return linesFrom(lines, total, offset, options);
  return lastLines(lines, total, tail, options);
}

async function linesFrom(
  lines: Lines,
  total: number | undefined,
  offset: number,
  { column = 1, head, limit = head ?? Number.POSITIVE_INFINITY, ...options }: ReadTextOptions,
): Promise<Part> {
  const { lineNumbers, maxChars } = options;
  const skipped = await lines.skip(offset - 1);
  if (offset > 1 && skipped.position >= lines.source.size) throw pastEnd(offset, skipped.lines);
  if (column > MAX_COLUMN) throw failure("line_too_far", `column ${digits(column)} is too far.`);
  // A few lines rarely have as many characters as an answer may have.
  const chars = Math.min(maxChars, limit * USUAL_CHARS);
  let window = await lines.text(skipped.position, column - 1 + chars);
  if (chars < maxChars && !window.ends && window.text.split(lines.end, limit + 1).length <= limit)
    window = await lines.text(skipped.position, column - 1 + maxChars);
  const first = window.text.slice(0, window.text.indexOf(lines.end) + 1) || window.text;
  if (column > 1 && column - 1 > first.replace(/[\r\n]+$/, "").length) {
    const has = digits(first.replace(/[\r\n]+$/, "").length);
    throw failure("short_line", `Line ${digits(offset)} has only ${has} characters.`);
  }
  const rest = window.text.slice(column - 1);
  const label = (index: number) => (lineNumbers === true ? `${offset + index}\t` : "");
  let text = "";
  let count = 0;
  let used = 0;
  while (count < limit && used < rest.length) {
    const end = rest.indexOf(lines.end, used);
    const next = end < 0 ? rest.length : end + 1;
    const line = label(count) + rest.slice(used, next);
    if ((end < 0 && !window.ends) || text.length + line.length > maxChars) break;
    text += line;
    used = next;
    count += 1;
  }
  const isCut = count === 0 && rest !== "";
  if (isCut) {
    const begin = clip(first.slice(column - 1), Math.max(2, maxChars - label(0).length));
    text = label(0) + begin;
    used = begin.length;
    count = 1;
  }
  const ends = window.ends && used === rest.length;
  const next = isCut ? { offset, column: column + used } : { offset: offset + count, column: 1 };
  return {
    text,
    startLine: offset,
    lines: count,
    totalLines: total ?? (ends ? offset + count - 1 : undefined),
    ends,
    next: ends ? undefined : next,
    isCut: isCut && !ends,
    leftOut: 0,
  };
}

function pastEnd(offset: number, total: number) {
  const range = `Use an offset from 1 to ${digits(total)}, or tail for the last lines.`;
  const what = `offset ${digits(offset)} is past the end: the file has ${digits(total)} lines.`;
  return failure("past_end", what, { hint: total === 0 ? "The file is empty." : range });
}

async function lastLines(
  lines: Lines,
  total: number | undefined,
  tail: number,
  { lineNumbers, maxChars }: ReadTextOptions,
): Promise<Part> {
  const window = await lines.last(maxChars);
  const candidates = lines.split(window.text).slice(-tail);
  const isAll = window.begins || candidates.length === tail;
  const lastFit: string[] = [];
  let remaining = maxChars;
  for (const line of candidates.toReversed()) {
    const numbered = lineNumbers === true ? `${(total ?? 0) - lastFit.length}\t${line}` : line;
    remaining -= numbered.length;
    if (remaining < 0) break;
    lastFit.unshift(numbered);
  }
  const last = candidates.at(-1) ?? "";
  const isCut = lastFit.length === 0 && last !== "";
  if (isCut) lastFit.push(last.slice(-maxChars).replace(/^[\udc00-\udfff]/, ""));
  const isFirst = window.begins && candidates.length === lastFit.length && candidates.length < tail;
  return {
    text: lastFit.join(""),
    startLine: total === undefined ? (isFirst ? 1 : undefined) : total - lastFit.length + 1,
    lines: lastFit.length,
    totalLines: total,
    ends: true,
    next: undefined,
    isCut,
    leftOut: (isAll ? candidates.length : tail) - lastFit.length,
  };
}

function checkRange({ head, tail, offset, limit, column }: ReadTextOptions): void {
  const ways = [
    head === undefined ? undefined : "head",
    tail === undefined ? undefined : "tail",
    (offset ?? limit ?? column) === undefined ? undefined : "offset, limit or column",
  ].filter((way) => way !== undefined);
  if (ways.length < 2) return;
  throw failure("several_ranges", `${ways.join(" and ")} select different parts of the file.`);
}
