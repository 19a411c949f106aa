import type { GuardedFile, PathGuard } from "@refmcp/boundary";
import { clip, grouped, oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { withFile } from "../open-path.ts";
import type { ThreadPool } from "../threads/thread-pool.ts";
import { counted } from "../wording.ts";
import { Lines } from "./lines.ts";
import { formOf, hashOf, type Source, sourceOf, tooLarge, wholeSource } from "./source.ts";
import type { Encoding, Eol, TextForm } from "./text-encoding.ts";

/** Which part of a file to read: the first lines, the last lines, or lines from `offset`; by default from the start. */
export interface TextRange {
  readonly head?: number | undefined;
  readonly tail?: number | undefined;
  /** First line, from 1; negative counts from the end, -1 being the last line. */
  readonly offset?: number | undefined;
  /** Maximum lines. */
  readonly limit?: number | undefined;
  /** First character of the line at `offset`, from 1; for a line longer than an answer. */
  readonly column?: number | undefined;
}

/** Maximum bytes of a PDF. */
const MAX_PDF_BYTES = 32 * 1024 * 1024;
/** If few lines are requested, this many characters per line are read first, before the maximum. */
const LIKELY_LINE_CHARS = 200;

export interface ReadTextOptions extends TextRange {
  readonly lineNumbers?: boolean | undefined;
  /** The file's encoding; detected by default. */
  readonly encoding?: Encoding | undefined;
  /** Maximum characters of text. */
  readonly maxChars: number;
  readonly signal?: AbortSignal | undefined;
}

export interface TextPart extends TextForm {
  /** The requested absolute path. */
  readonly path: string;
  /** The file's text (with line numbers if requested), with its original line endings and without a byte order mark. */
  readonly text: string;
  /** Bytes of the whole file. */
  readonly size: number;
  /** The number of pages, if it is a PDF. */
  readonly pages: number | undefined;
  /** The hash of the whole file; known up to 8 MiB. */
  readonly hash: string | undefined;
  /** Number of the first line shown; unknown at the end of a large file. */
  readonly startLine: number | undefined;
  /** How many lines are shown. */
  readonly lines: number;
  /** Lines of the whole file; known up to 8 MiB, or if the end was reached. */
  readonly totalLines: number | undefined;
  /** Whether the end of the file is shown. */
  readonly ends: boolean;
  /** Whether the file's last line has a line ending; known if the end is shown. */
  readonly closed: boolean | undefined;
  /** Where to continue; undefined at the end of the file. */
  readonly next: { readonly offset: number; readonly column: number } | undefined;
  /** How much of a cut line is missing at its end, or for `tail` at its start. */
  readonly missing: { readonly chars: number; readonly exact: boolean } | undefined;
  /** For `tail`: how many of the requested lines did not fit; undefined if all did. */
  readonly leftOut: number | undefined;
}

/**
 * Reads a part of a text file. Memory and time are bounded by `maxChars`, not by the file's size; only an
 * `offset` deep in a large file must be searched for.
 *
 * @throws ToolError `invalid` for a binary file, an offset past the end or a contradictory range; `too_large` for an
 * offset beyond 1 GiB; and what `PathGuard.openFile` throws.
 */
export async function readText(
  guard: PathGuard,
  path: string,
  options: ReadTextOptions,
  threads?: ThreadPool,
): Promise<TextPart> {
  checkRange(options);
  return withFile(guard, path, async (file) => {
    let source = await sourceOf(file);
    let form = await formOf(source, options.encoding);
    const { size } = source;
    const hash = source.whole === undefined ? undefined : hashOf(source.whole);
    let pages: number | undefined;
    if (form === undefined) {
      const pdf = await readPdf(file, source, threads, options.signal);
      if (pdf === undefined) throw binary(file.path);
      pages = pdf.pages;
      source = wholeSource(Buffer.from(pdf.text));
      form = { encoding: "utf-8", bom: false, damaged: false, eol: "lf" };
    }
    const lines = new Lines(source, form, options.signal);
    const totalLines = source.whole === undefined ? undefined : await lines.count();
    const { tail = options.limit === undefined ? fromEnd(options.offset) : undefined, ...range } = options;
    const first =
      tail === undefined && fromEnd(range.offset) !== undefined ? (totalLines ?? (await lines.count())) : 0;
    const offset = first === 0 ? range.offset : Math.max(1, first + 1 + (range.offset ?? 0));
    const part =
      tail === undefined
        ? await forward(lines, source, totalLines, { ...range, offset })
        : await backward(lines, source, totalLines, tail, options);
    return { path: file.path, size, hash, pages, ...form, ...part };
  });
}

/** The number of lines from the end for a negative offset. */
function fromEnd(offset: number | undefined): number | undefined {
  return offset !== undefined && offset < 0 ? -offset : undefined;
}

/** The text of a PDF; undefined for any other file. */
async function readPdf(
  file: GuardedFile,
  source: Source,
  threads: ThreadPool | undefined,
  signal: AbortSignal | undefined,
): Promise<{ text: string; pages: number } | undefined> {
  const begin = await source.read(0, 5);
  if (threads === undefined || begin.toString("latin1") !== "%PDF-") return undefined;
  if (source.size > MAX_PDF_BYTES) {
    const hint = "Ask the user for a smaller file, or for the text.";
    throw tooLarge(file.path, source.size, MAX_PDF_BYTES, "of a PDF are read", hint);
  }
  return threads.run("pdf", { path: file.path, bytes: await source.read(0, source.size) }, signal);
}

type Part = Omit<TextPart, "path" | "size" | "hash" | "pages" | keyof TextForm>;

async function forward(
  lines: Lines,
  source: Source,
  totalLines: number | undefined,
  options: ReadTextOptions,
): Promise<Part> {
  const offset = options.offset ?? 1;
  const column = options.column ?? 1;
  const limit = options.head ?? options.limit ?? Number.POSITIVE_INFINITY;
  const skipped = await lines.skip(lines.start, offset - 1);
  if (offset > 1 && skipped.position >= source.size) throw beyondEnd(offset, totalLines ?? skipped.lines);
  const from = await lines.column(skipped.position, column - 1, offset);
  const window = await windowFor(lines, from, limit, options.maxChars);
  const label = (index: number) => (options.lineNumbers === true ? `${offset + index}\t` : "");
  let text = "";
  let shown = 0;
  let consumed = 0;
  let missing: TextPart["missing"];
  for (const { line, whole } of lines.split(window.text, limit)) {
    const labeled = label(shown) + line;
    if ((whole || window.ends) && text.length + labeled.length <= options.maxChars) {
      text += labeled;
      shown += 1;
      consumed += line.length;
      continue;
    }
    if (shown > 0) break;
    // A single line that is longer than the answer.
    const head = clip(line, Math.max(2, options.maxChars - label(0).length));
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
  options: ReadTextOptions,
): Promise<Part> {
  const numbered = options.lineNumbers === true;
  const total = totalLines ?? (numbered ? await lines.count() : undefined);
  // A character takes at most three bytes, so the first character kept is complete.
  const found = await lines.last(tail, 3 * options.maxChars + 64);
  const { text } = await lines.text(found.position, source.size - found.position);
  const all = [...lines.split(text, Number.POSITIVE_INFINITY)].map(({ line }) => line);
  const kept: string[] = [];
  let remaining = options.maxChars;
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
    const end = clipStart(last, options.maxChars);
    kept.push(end);
    missing = { chars: last.length - end.length, exact: found.complete || all.length > 1 };
  }
  return {
    text: kept.join(""),
    startLine:
      total === undefined ? (found.complete && all.length < tail ? 1 : undefined) : total - kept.length + 1,
    lines: kept.length,
    totalLines: total,
    ends: true,
    closed: text === "" ? undefined : await lines.closed(),
    next: undefined,
    missing,
    leftOut:
      kept.length < Math.min(tail, found.complete ? all.length : tail) ? tail - kept.length : undefined,
  };
}

/** The last `max` characters, without splitting a surrogate pair. */
function clipStart(text: string, max: number): string {
  const end = text.slice(Math.max(0, text.length - max));
  const first = end.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff && end.length < text.length ? end.slice(1) : end;
}

function checkRange({ head, tail, offset, limit, column }: TextRange): void {
  if (offset === 0 || (offset !== undefined && offset < 0 && column !== undefined)) {
    throw new ToolError(
      "invalid",
      offset === 0 ? "Lines are counted from 1." : "column needs an offset from 1.",
      { hint: "Use an offset from 1, or a negative one to count from the end." },
    );
  }
  const ways = [
    head === undefined ? undefined : "head",
    tail === undefined ? undefined : "tail",
    (offset ?? limit ?? column) === undefined ? undefined : "offset, limit or column",
  ].filter((way) => way !== undefined);
  if (ways.length < 2) return;
  throw new ToolError("invalid", `${ways.join(" and ")} select different parts of the file.`, {
    hint: "Use head for the first lines, tail for the last lines, or offset with limit for lines in between.",
  });
}

function beyondEnd(offset: number, total: number): ToolError {
  return new ToolError(
    "invalid",
    `offset ${grouped(offset)} is past the end: the file has ${grouped(total)} lines.`,
    {
      hint:
        total === 0 ? "The file is empty." : `Use an offset from 1 to ${total}, or tail for the last lines.`,
    },
  );
}

/** The refusal of binary content. */
export function binary(path: string): ToolError {
  return new ToolError("invalid", `"${oneLine(path)}" is not text (its bytes look binary).`, {
    hint: "Use read_media_file for images, audio and other binary files, or pass encoding to read the bytes as text anyway.",
  });
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
    const encoding = part.bom ? `${part.encoding} with byte order mark` : part.encoding;
    const kind =
      part.pages === undefined
        ? [encoding, EOL_WORDS[part.eol]]
        : [`text of a PDF of ${counted(part.pages, "page")}`];
    const file = [sized(part.size), ...kind];
    if (part.hash !== undefined) file.push(`hash ${part.hash}`);
    facts.push(...warnings(part), `File: ${file.join(", ")}.`);
  }
  return facts.filter((text) => text !== "").join(" ");
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
  return lines === 1 ? `Line ${grouped(end)}${of}.` : `Lines ${grouped(startLine)}–${grouped(end)}${of}.`;
}

function continuation({ next, leftOut, startLine }: TextPart): string {
  if (next !== undefined) {
    return `Continue with offset=${next.offset}${next.column > 1 ? ` column=${next.column}` : ""}.`;
  }
  if (leftOut === undefined) return "";
  const from = startLine === undefined ? "" : ` Read them with offset=${Math.max(1, startLine - leftOut)}.`;
  return `${grouped(leftOut)} earlier lines did not fit.${from}`;
}

function warnings(part: TextPart): string[] {
  const found: string[] = [];
  if (part.closed === false) found.push("No newline at the end of the file.");
  if (part.damaged) found.push("Some bytes are not UTF-8 and are shown as U+FFFD; edit_file preserves them.");
  if (part.weak) found.push("The encoding is a guess; if the text looks wrong, pass encoding.");
  return found;
}

/** What to append to a text so that the server's line is on its own line. */
export function onItsOwn(text: string): string {
  return text === "" || text.endsWith("\n") ? "" : "\n";
}
