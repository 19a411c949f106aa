import { clip, digits, nearest, oneLine, type ToolError } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import { decode, encode, type TextForm } from "../read/text-encoding.ts";
import { editPattern } from "../search/text-pattern.ts";
import { diffTexts } from "./diff.ts";

export interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

export interface EditOptions {
  /** Replaces every occurrence; otherwise each `oldText` must occur exactly once. */
  readonly replace_all: boolean;
  /** Each `oldText` is a regular expression, and `newText` may contain $1, $<name>, $& and $$. */
  readonly regex?: boolean | undefined;
  readonly skipMissing?: boolean | undefined;
}

/** A place in a text: the characters from `start` to `end` are replaced with `text`. */
interface Match {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** How many places of an ambiguous match are listed. */
const MAX_PLACES = 10;
/** How many lines of a file are compared with a text that is not in it. */
const MAX_COMPARED_LINES = 5_000;

/**
 * Applies the edits in order, each to the result of the previous ones. Line endings of the edits match any in the
 * text; other than in what differs, no character changes.
 *
 * @returns `missing`: the indexes of edits that matched nothing
 * @throws ToolError `not_found` with the closest place, `invalid` for an empty or ambiguous `oldText`
 */
export function editText(
  path: string,
  original: string,
  edits: readonly Edit[],
  { replace_all, regex, skipMissing }: EditOptions,
) {
  const missing: number[] = [];
  let current = original;
  let replacements = 0;
  for (const [index, edit] of edits.entries()) {
    const where =
      edits.length === 1 ? "oldText" : `oldText of edit ${index + 1} of ${edits.length}`;
    const [oldText, newText] = [withLf(edit.oldText), withLf(edit.newText)];
    if (oldText === "")
      throw failure("empty_text", `${where} is empty; it must be text from the file.`);
    const view = lfView(current);
    const matches =
      regex === true
        ? regexMatches(view.text, oldText, newText)
        : // Overlapping occurrences count too, unless all are replaced.
          places(view.text, oldText, newText, replace_all ? oldText.length : 1);
    if (matches.length === 0) {
      if (skipMissing !== true) throw noMatch(path, view.text, oldText, where, { regex, index });
      missing.push(index);
    }
    if (matches.length > 1 && !replace_all) throw ambiguous(path, view.text, matches, where);
    replacements += matches.length;
    current = spliced(current, matches, view);
  }
  return { text: current, replacements, missing };
}

function places(text: string, oldText: string, newText: string, step: number): Match[] {
  const matches: Match[] = [];
  for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + step))
    matches.push({ start: at, end: at + oldText.length, text: newText });
  return matches;
}

function regexMatches(text: string, expression: string, template: string): Match[] {
  const matches: Match[] = [];
  for (const match of text.matchAll(editPattern(expression))) {
    const start = match.index;
    // An empty match after the last line feed is in no line.
    if (match[0] === "" && start === text.length && text.endsWith("\n")) break;
    matches.push({ start, end: start + match[0].length, text: filled(template, match) });
  }
  return matches;
}

/** Fills a template with the groups' matches; references to missing groups stay as written. */
function filled(template: string, match: RegExpMatchArray): string {
  return template.replace(/\$(?:([$&])|(\d\d?)|<([^>]*)>)/g, (written, sign, number, name) => {
    if (sign !== undefined) return sign === "$" ? "$" : match[0];
    const isThere =
      name === undefined ? Number(number) < match.length : name in (match.groups ?? {});
    if (!isThere) return written;
    return (name === undefined ? match[Number(number)] : match.groups?.[name]) ?? "";
  });
}

/** The original text with its matches replaced; only what differs, so that common parts keep their bytes. */
function spliced(
  original: string,
  matches: readonly Match[],
  { text: lf, toOriginal }: ReturnType<typeof lfView>,
): string {
  const parts: string[] = [];
  let at = 0;
  for (const match of matches) {
    const { start, end, text } = narrowed(lf, match);
    const [from, to] = [toOriginal(start), toOriginal(end)];
    const isOneLine = !text.includes("\n");
    const ended = isOneLine ? text : text.replaceAll("\n", lineEndAt(original, from, to));
    parts.push(original.slice(at, from), ended);
    at = to;
  }
  return parts.join("") + original.slice(at);
}

/** A match without what is the same before and after it at its beginning and end. */
function narrowed(lf: string, { start, end, text }: Match): Match {
  const max = Math.min(end - start, text.length);
  let front = 0;
  while (front < max && lf.charCodeAt(start + front) === text.charCodeAt(front)) front += 1;
  let back = 0;
  while (
    back < max - front &&
    lf.charCodeAt(end - 1 - back) === text.charCodeAt(text.length - 1 - back)
  )
    back += 1;
  return { start: start + front, end: end - back, text: text.slice(front, text.length - back) };
}

function ambiguous(
  path: string,
  text: string,
  matches: readonly Match[],
  where: string,
): ToolError {
  const lines = matches
    .slice(0, MAX_PLACES)
    .map(({ start }) => digits(text.slice(0, start).split("\n").length));
  const more =
    matches.length > MAX_PLACES ? ` and ${digits(matches.length - MAX_PLACES)} more` : "";
  const message = `${where} occurs ${digits(matches.length)} times in ${named(path)}, at lines ${lines.join(", ")}${more}; nothing was changed.`;
  return failure("several_places", message);
}

function noMatch(
  path: string,
  text: string,
  oldText: string,
  where: string,
  { regex, index }: { regex: boolean | undefined; index: number },
): ToolError {
  const wanted = `${JSON.stringify(clip(oldText, 120))}${oldText.length > 120 ? "…" : ""}`;
  if (regex === true) {
    const what = `${where} ${wanted} matches nothing in ${named(path)}`;
    return failure("no_match", `${what}; nothing was changed.`);
  }
  const after = index > 0 ? " after the edits before it" : "";
  const message = `${where} ${wanted} is not in ${named(path)}${after}; nothing was changed.${hintOf(text, oldText)}`;
  return failure("no_place", message);
}

/** Which line looks like the longest one that was wanted. */
function hintOf(text: string, oldText: string): string {
  const wanted = oldText.split("\n").reduce((a, b) => (b.trim().length > a.trim().length ? b : a));
  const lines = text.split("\n", MAX_COMPARED_LINES);
  const squeezed = (line: string) => line.replace(/\s+/g, "");
  const isSame = (line: string) => squeezed(line) === squeezed(wanted);
  const near = lines.find(isSame) ?? nearest(wanted, lines, 1)[0];
  if (near === undefined || wanted.trim() === "") return " The file contains nothing similar.";
  const note = isSame(near) ? " (compare its whitespace and the lines around it)" : "";
  const line = digits(lines.indexOf(near) + 1);
  return ` The closest match is line ${line}${note}:\n${oneLine(clip(near, 300))}`;
}

/** What to edit, as plain data for a thread. */
export interface EditWork extends EditOptions {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly form: TextForm;
  readonly edits: readonly Edit[];
  readonly maxChars: number;
}

/** Replaces parts of a text; `after` is undefined if that changes nothing. @throws ToolError as `editText`. */
export function editBytes({ path, bytes, form, edits, maxChars, ...options }: EditWork) {
  const original = decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), form);
  const { text, ...outcome } = editText(path, original, edits, options);
  const [before, after] = [lfView(original).text, lfView(text).text];
  const { text: diff, ...counts } = diffTexts({
    oldName: path,
    newName: path,
    before,
    after,
    maxChars,
  });
  return { after: text === original ? undefined : encode(text, form), diff, ...counts, ...outcome };
}

/** Converts line endings of a caller's text to LF. */
export function withLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** The text with LF line endings, and where its positions are in the original. A lone CR counts if there are no others. */
function lfView(original: string): { text: string; toOriginal(at: number): number } {
  if (!original.includes("\r")) return { text: original, toOriginal: (at) => at };
  if (!original.includes("\n"))
    return { text: original.replaceAll("\r", "\n"), toOriginal: (at) => at };
  // For each CRLF, the position of its LF in the text without carriage returns.
  const carriages: number[] = [];
  for (let at = original.indexOf("\r\n"); at !== -1; at = original.indexOf("\r\n", at + 2))
    carriages.push(at - carriages.length);
  // Positions are asked in order.
  let count = 0;
  const toOriginal = (at: number) => {
    while (count < carriages.length && (carriages[count] ?? 0) < at) count += 1;
    return at + count;
  };
  return { text: withLf(original), toOriginal };
}

/** The line ending that applies at a range of a text: its first one, else the one before it, else the one after it. */
function lineEndAt(text: string, start: number, end: number): string {
  const next = text.indexOf("\n", start);
  const before = start === 0 ? -1 : text.lastIndexOf("\n", start - 1);
  const at = next !== -1 && (next < end || before === -1) ? next : before;
  if (at === -1) return text.includes("\r") ? "\r" : "\n";
  return text[at - 1] === "\r" ? "\r\n" : "\n";
}
