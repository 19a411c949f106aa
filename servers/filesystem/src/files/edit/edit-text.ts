import { clip, grouped, type ToolError } from "@refmcp/boundary/answer";
import { failure, named } from "../errors.ts";
import { decode, encode, type TextForm } from "../read/text-encoding.ts";
import { editPattern } from "../search/text-pattern.ts";
import { closest } from "./closest-match.ts";
import { diffTexts } from "./diff.ts";
import { lfView, lineEndsOf, withEnds, withLf } from "./line-ends.ts";

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
/** How many parts are joined at once, so that millions of them do not take memory at the same time. */
const JOINED = 10_000;

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
  const joined: string[] = [];
  let parts: string[] = [];
  const endOf = lineEndsOf(original);
  let at = 0;
  for (const match of matches) {
    const { start, end, text } = narrowed(lf, match);
    const [from, to] = [toOriginal(start), toOriginal(end)];
    parts.push(original.slice(at, from), withEnds(text, endOf(from, to)));
    at = to;
    if (parts.length < JOINED) continue;
    joined.push(parts.join(""));
    parts = [];
  }
  joined.push(parts.join(""), original.slice(at));
  return joined.join("");
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
    .map(({ start }) => grouped(text.slice(0, start).split("\n").length));
  const more =
    matches.length > MAX_PLACES ? ` and ${grouped(matches.length - MAX_PLACES)} more` : "";
  const message = `${where} occurs ${grouped(matches.length)} times in ${named(path)}, at lines ${lines.join(", ")}${more}; nothing was changed.`;
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
  const near = closest(text, oldText);
  const after = index > 0 ? " after the edits before it" : "";
  const place =
    near === undefined
      ? " The file contains nothing similar."
      : `${near.whiteSpaceOnly ? " It differs only in whitespace from" : " The closest match is"} line ${grouped(near.line)}:\n${near.excerpt}`;
  const message = `${where} ${wanted} is not in ${named(path)}${after}; nothing was changed.${place}`;
  return failure("no_place", message);
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
