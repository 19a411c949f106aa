import { clip, grouped, HARD_ANSWER_CHARS, sized } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { binary, hashOf } from "./bytes.ts";
import { openDocument } from "./documents.ts";
import { formOf, Lines, type Source, sourceOf, wholeSource } from "./lines.ts";
import type { Encoding, Eol, TextForm } from "./text-encoding.ts";

/** Which part of a file to read: the first lines, the last lines, or lines from `offset`; by default from the start. */
export interface TextRange {
  readonly head?: number | undefined;
  readonly tail?: number | undefined;
  /** First line, from 1; negative counts from the end, -1 being the last line. */
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  /** First character of the line at `offset`, from 1; for a line longer than an answer. */
  readonly column?: number | undefined;
}

const FACTS_CHARS = 600;
/** Characters of text that are returned however small the budget is. */
const MIN_CHARS = 500;

/** Characters of text for a call: its budget, or as much as hosts show if it asks for a range. */
export function textChars(budget: number, isRange: boolean): number {
  const most = HARD_ANSWER_CHARS - FACTS_CHARS;
  return isRange ? most : Math.max(MIN_CHARS, Math.min(budget - FACTS_CHARS, most));
}

/** If few lines are requested, this many characters per line are read first, before the maximum. */
const LIKELY_LINE_CHARS = 200;

interface ReadTextOptions extends TextRange {
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
  /** For a document that was converted to text: what its parts are called, if it has several and all were read. */
  readonly document: { readonly unit: string | undefined } | undefined;
  /** The hash of the whole file; known up to 8 MiB. */
  readonly hash: string | undefined;
  /** Number of the first line shown; unknown at the end of a large file. */
  readonly startLine: number | undefined;
  readonly lines: number;
  /** Lines of the whole file; known up to 8 MiB, or if the end was reached. */
  readonly totalLines: number | undefined;
  readonly ends: boolean;
  /** Whether the file's last line has a line ending; known if the end is shown. */
  readonly closed: boolean | undefined;
  readonly next: { readonly offset: number; readonly column: number } | undefined;
  /** How much of a cut line is missing at its end, or for `tail` at its start. */
  readonly missing: { readonly chars: number; readonly exact: boolean } | undefined;
  /** For `tail`: how many of the requested lines did not fit; undefined if all did. */
  readonly leftOut: number | undefined;
}

/**
 * Reads a part of a text file, or of the text of a document, whose path can end with `#` and a part of it. Memory and time are bounded by `maxChars`, not by the file's size; only an
 * `offset` deep in a large file must be searched for.
 *
 * @throws ToolError `invalid` for a binary file, an offset past the end or a contradictory range; `too_large` for an
 * offset beyond 1 GiB; and what `PathGuard.openFile` throws.
 */
export async function readText(
  { guard, documents }: Pick<Files, "guard" | "documents">,
  path: string,
  options: ReadTextOptions,
): Promise<TextPart> {
  checkRange(options);
  const { file, part } = await openDocument(guard, path);
  try {
    const { signal, offset = 1, limit } = options;
    let source = await sourceOf(file);
    let form = await formOf(source, options.encoding);
    const { size } = source;
    const hash = source.whole === undefined ? undefined : hashOf(source.whole);
    // With an explicit encoding, the bytes are read as text.
    const converted =
      options.encoding === undefined
        ? await documents.textOf(file, { part, sniff: true, signal })
        : undefined;
    if (converted !== undefined) {
      source = wholeSource(Buffer.from(converted.bytes));
      form = { encoding: "utf-8", bom: false, damaged: false, eol: "lf" };
    }
    if (form === undefined) throw binary(file.path);
    const document = converted && { unit: part === undefined ? converted.unit : undefined };
    const lines = new Lines(source, form, signal);
    const totalLines = source.whole === undefined ? undefined : await lines.count();
    // A negative offset counts from the end; without a limit, it is a tail.
    const tail = options.tail ?? (offset < 0 && limit === undefined ? -offset : undefined);
    if (tail !== undefined) {
      const shown = await backward(lines, source, totalLines, tail, options);
      return { path: file.path, size, hash, document, ...form, ...shown };
    }
    const from =
      offset < 0 ? Math.max(1, (totalLines ?? (await lines.count())) + 1 + offset) : offset;
    const shown = await forward(lines, source, totalLines, from, options);
    return { path: file.path, size, hash, document, ...form, ...shown };
  } finally {
    await file.handle.close();
  }
}

type Part = Omit<TextPart, "path" | "size" | "hash" | "document" | keyof TextForm>;

async function forward(
  lines: Lines,
  source: Source,
  totalLines: number | undefined,
  offset: number,
  {
    column = 1,
    head,
    limit = head ?? Number.POSITIVE_INFINITY,
    lineNumbers,
    maxChars,
  }: ReadTextOptions,
): Promise<Part> {
  const skipped = await lines.skip(lines.start, offset - 1);
  if (offset > 1 && skipped.position >= source.size) {
    const total = totalLines ?? skipped.lines;
    const range = `Use an offset from 1 to ${total}, or tail for the last lines.`;
    throw failure(
      "past_end",
      `offset ${grouped(offset)} is past the end: the file has ${grouped(total)} lines.`,
      { hint: total === 0 ? "The file is empty." : range },
    );
  }
  const from = await lines.column(skipped.position, column - 1, offset);
  const window = await windowFor(lines, from, limit, maxChars);
  const label = (index: number) => (lineNumbers === true ? `${offset + index}\t` : "");
  let text = "";
  let shown = 0;
  let consumed = 0;
  let missing: TextPart["missing"];
  for (const { line, whole } of lines.split(window.text, limit)) {
    const labeled = label(shown) + line;
    if ((whole || window.ends) && text.length + labeled.length <= maxChars) {
      text += labeled;
      shown += 1;
      consumed += line.length;
      continue;
    }
    if (shown > 0) break;
    // A single line that is longer than the answer.
    const head = clip(line, Math.max(2, maxChars - label(0).length));
    text = label(0) + head;
    missing = await lines.restOfLine(await lines.column(from, head.length, offset));
    shown = 1;
    consumed = head.length;
    break;
  }
  const ends = window.ends && consumed === window.text.length;
  const next = ends
    ? undefined
    : missing === undefined
      ? { offset: offset + shown, column: 1 }
      : { offset, column: column + consumed };
  return {
    text,
    startLine: offset,
    lines: shown,
    totalLines: totalLines ?? (ends ? offset + shown - 1 : undefined),
    ends,
    closed: ends ? await lines.closed() : undefined,
    next,
    missing,
    leftOut: undefined,
  };
}

/** Enough text at `from` for `limit` lines or `maxChars` characters. */
async function windowFor(lines: Lines, from: number, limit: number, maxChars: number) {
  const likely = limit * LIKELY_LINE_CHARS;
  if (likely < maxChars) {
    const window = await lines.text(from, likely);
    if (window.ends || [...lines.split(window.text, limit + 1)].length > limit) return window;
  }
  return lines.text(from, maxChars);
}

async function backward(
  lines: Lines,
  source: Source,
  totalLines: number | undefined,
  tail: number,
  { lineNumbers: numbered = false, maxChars }: ReadTextOptions,
): Promise<Part> {
  const total = totalLines ?? (numbered ? await lines.count() : undefined);
  // A character takes at most three bytes, so the first character kept is complete.
  const found = await lines.last(tail, 3 * maxChars + 64);
  const { text } = await lines.text(found.position, source.size - found.position);
  const all = [...lines.split(text, Number.POSITIVE_INFINITY)].map(({ line }) => line);
  const kept: string[] = [];
  let remaining = maxChars;
  for (const line of all.toReversed()) {
    const number = total === undefined ? 0 : total - kept.length;
    const shown = numbered ? `${number}\t${line}` : line;
    if (shown.length > remaining) break;
    remaining -= shown.length;
    kept.unshift(shown);
  }
  let missing: TextPart["missing"];
  const last = all.at(-1);
  if (kept.length === 0 && last !== undefined) {
    const end = clipStart(last, maxChars);
    kept.push(end);
    missing = { chars: last.length - end.length, exact: found.complete || all.length > 1 };
  }
  return {
    text: kept.join(""),
    startLine:
      total === undefined
        ? found.complete && all.length < tail
          ? 1
          : undefined
        : total - kept.length + 1,
    lines: kept.length,
    totalLines: total,
    ends: true,
    closed: text === "" ? undefined : await lines.closed(),
    next: undefined,
    missing,
    leftOut:
      kept.length < Math.min(tail, found.complete ? all.length : tail)
        ? tail - kept.length
        : undefined,
  };
}

/** The last `max` characters, without splitting a surrogate pair. */
function clipStart(text: string, max: number): string {
  const end = text.slice(Math.max(0, text.length - max));
  const first = end.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff && end.length < text.length ? end.slice(1) : end;
}

function checkRange({ head, tail, offset, limit, column }: TextRange): void {
  if (offset === 0) throw failure("line_zero", "Lines are counted from 1.");
  if (offset !== undefined && offset < 0 && column !== undefined) {
    throw failure("line_zero", "column needs an offset from 1.");
  }
  const ways = [
    head === undefined ? undefined : "head",
    tail === undefined ? undefined : "tail",
    (offset ?? limit ?? column) === undefined ? undefined : "offset, limit or column",
  ].filter((way) => way !== undefined);
  if (ways.length < 2) return;
  throw failure("several_ranges", `${ways.join(" and ")} select different parts of the file.`);
}

const EOL_WORDS: Readonly<Record<Eol, string>> = {
  lf: "LF line endings",
  crlf: "CRLF line endings",
  cr: "CR line endings",
  mixed: "mixed line endings",
  none: "no line endings",
};

/**
 * The server's own line about a text, in square brackets: what is shown, how to continue, and the file's format. A file
 * can contain such a line, but not as the last line of the answer.
 */
export function factsLine(part: TextPart): string {
  return `[${partFacts(part, true)}]`;
}

/** The same without brackets. `full` adds warnings and the file's size, encoding, line endings and hash. */
export function partFacts(part: TextPart, full: boolean): string {
  const facts = [shown(part), continuation(part)];
  if (full) {
    const { document, size, encoding, bom, eol, hash } = part;
    const kind =
      document === undefined
        ? [bom ? `${encoding} with byte order mark` : encoding, EOL_WORDS[eol]]
        : ["converted to text"];
    const file = [sized(size), ...kind, ...(hash === undefined ? [] : [`hash ${hash}`])];
    facts.push(
      part.closed === false ? "No newline at the end of the file." : "",
      part.damaged
        ? "Some bytes are not UTF-8 and are shown as U+FFFD; edit_file preserves them."
        : "",
      part.weak
        ? "The encoding is a guess; if the text looks wrong, pass encoding, for example gbk, shift_jis or windows-1251."
        : "",
      `File: ${file.join(", ")}.`,
      document?.unit === undefined ? "" : partHint(document.unit),
    );
  }
  return facts.filter((text) => text !== "").join(" ");
}

/** How to read a part of a document. */
function partHint(unit: string): string {
  const part = unit === "sheet" ? "Sheet1" : "2 or #2-4";
  return `For one ${unit} or several, append #${part} to the path.`;
}

function shown(part: TextPart): string {
  const { startLine, lines, totalLines, missing } = part;
  if (lines === 0) return "The file is empty.";
  const of = totalLines === undefined ? "" : ` of ${grouped(totalLines)}`;
  if (missing !== undefined) {
    const chars = `${missing.exact ? "" : "over "}${grouped(missing.chars)}`;
    return part.next === undefined
      ? `End of the last line${of}; ${chars} characters precede it.`
      : `Part of line ${grouped(part.next.offset)}${of}; ${chars} more characters follow.`;
  }
  if (startLine === undefined) return `The last ${grouped(lines)} lines.`;
  const end = startLine + lines - 1;
  if (startLine === 1 && end === totalLines)
    return lines === 1 ? "The only line." : `All ${grouped(lines)} lines.`;
  return lines === 1
    ? `Line ${grouped(end)}${of}.`
    : `Lines ${grouped(startLine)}–${grouped(end)}${of}.`;
}

function continuation({ next, leftOut, startLine }: TextPart): string {
  if (next !== undefined) {
    return `Continue with offset=${next.offset}${next.column > 1 ? ` column=${next.column}` : ""}.`;
  }
  if (leftOut === undefined) return "";
  const from =
    startLine === undefined ? "" : ` Read them with offset=${Math.max(1, startLine - leftOut)}.`;
  return `${grouped(leftOut)} earlier lines did not fit.${from}`;
}

/** What to append to a text so that the server's line is on its own line. */
export function onItsOwn(text: string): string {
  return text === "" || text.endsWith("\n") ? "" : "\n";
}
