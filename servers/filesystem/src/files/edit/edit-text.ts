import { clip, grouped, type ToolError } from "@refmcp/boundary/answer";
import { failure, named } from "../messages.ts";
import { decode, encode, type TextForm } from "../read/text-encoding.ts";
import { textPattern } from "../search/text-pattern.ts";
import {
  compose,
  differences,
  feedsIn,
  placesOf,
  type Region,
  repeatedRegions,
  type Splice,
  spliced,
  unified,
  withLf,
} from "./changed-ranges.ts";
import { closest } from "./closest-match.ts";
import { unifiedDiff } from "./diff.ts";

export interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

export interface EditOptions {
  /** Replaces every occurrence; otherwise each `oldText` must occur exactly once. */
  readonly replace_all: boolean;
  /** Each `oldText` is a regular expression as in search_text, and `newText` may contain $1, $<name>, $& and $$. */
  readonly regex?: boolean | undefined;
  readonly skipMissing?: boolean | undefined;
}

/** `missing`: the indexes of edits that matched nothing. */
interface EditedText {
  readonly text: string;
  /** Sorted, not overlapping. */
  readonly regions: Iterable<Region>;
  readonly replacements: number;
  readonly missing: readonly number[];
}

/** How many places of an ambiguous match are listed. */
const MAX_PLACES = 10;

/**
 * Applies the edits in order, each to the result of the previous ones. All texts have LF line endings.
 *
 * @throws ToolError `not_found` with the closest place, `invalid` for an empty or ambiguous `oldText`.
 */
export function editText(
  path: string,
  text: string,
  edits: readonly Edit[],
  options: EditOptions,
): EditedText {
  const isSimple = !options.replace_all && options.regex !== true && edits.length > 1;
  return (
    (isSimple ? editTogether(text, edits) : undefined) ??
    (options.regex === true ? undefined : replaceEverywhere(text, edits, options)) ??
    editInSequence(path, text, edits, options)
  );
}

/** A single text with many places is replaced in one pass, which takes four bytes for each place. */
function replaceEverywhere(
  text: string,
  edits: readonly Edit[],
  { replace_all }: EditOptions,
): EditedText | undefined {
  const [edit] = edits;
  if (!replace_all || edit === undefined || edits.length > 1 || edit.oldText === "")
    return undefined;
  const [oldText, newText] = [withLf(edit.oldText), withLf(edit.newText)];
  const places = placesOf(text, oldText);
  if (places.length === 0) return undefined;
  function* splices() {
    for (const start of places) yield { start, end: start + oldText.length, text: newText };
  }
  const regions = repeatedRegions(places, oldText, newText);
  return { text: spliced(text, splices()), regions, replacements: places.length, missing: [] };
}

/**
 * Applies independent edits in one pass, so a large text is assembled only once. The result is the same as that of
 * `editInSequence`.
 *
 * @returns undefined if the edits may depend on each other, or one does not match exactly once.
 */
export function editTogether(text: string, edits: readonly Edit[]): EditedText | undefined {
  const wanted = edits.map(({ oldText }) => withLf(oldText));
  const longest = Math.max(...wanted.map(({ length }) => length));
  const splices: Splice[] = [];
  for (const [index, oldText] of wanted.entries()) {
    const start = oldText === "" ? -1 : text.indexOf(oldText);
    if (start === -1 || text.includes(oldText, start + 1)) return undefined;
    const newText = withLf(edits[index]?.newText ?? "");
    splices.push({ start, end: start + oldText.length, text: newText });
  }
  splices.sort((a, b) => a.start - b.start);
  const apart = splices.every(
    ({ start }, index) => index === 0 || start - (splices[index - 1]?.end ?? 0) >= longest,
  );
  if (!apart) return undefined;
  const edited = spliced(text, splices);
  // A new text, with its context, may contain what a later edit searches for.
  for (const { newStart, newEnd } of compose([], splices)) {
    const around = edited.slice(Math.max(0, newStart - longest), newEnd + longest);
    if (wanted.some((oldText) => around.includes(oldText))) return undefined;
  }
  const changes = splices.flatMap((splice) =>
    narrowed(text.slice(splice.start, splice.end), splice),
  );
  return { text: edited, regions: compose([], changes), replacements: edits.length, missing: [] };
}

export function editInSequence(
  path: string,
  text: string,
  edits: readonly Edit[],
  { replace_all, regex, skipMissing }: EditOptions,
): EditedText {
  const missing: number[] = [];
  let current = text;
  let regions: Region[] = [];
  let replacements = 0;
  for (const [index, edit] of edits.entries()) {
    const where =
      edits.length === 1 ? "oldText" : `oldText of edit ${index + 1} of ${edits.length}`;
    const oldText = withLf(edit.oldText);
    const newText = withLf(edit.newText);
    const matches =
      regex === true
        ? regexMatches(current, oldText, newText)
        : Array.from(occurrences(current, oldText, where, replace_all), (start) => {
            return { start, end: start + oldText.length, text: newText };
          });
    if (matches.length === 0) {
      if (skipMissing !== true && regex === true) {
        const wanted = JSON.stringify(clip(oldText, 120));
        const what = `${where} ${wanted} matches no line of ${named(path)}`;
        throw failure("no_match", `${what}; nothing was changed.`);
      }
      if (skipMissing !== true) throw noMatch(path, current, oldText, where, index > 0);
      missing.push(index);
    }
    if (matches.length > 1 && !replace_all) throw ambiguous(path, current, matches, where);
    replacements += matches.length;
    const splices = matches.flatMap((match) =>
      narrowed(current.slice(match.start, match.end), match),
    );
    regions = compose(regions, splices);
    current = spliced(current, splices);
  }
  return { text: current, regions, replacements, missing };
}

/** Where `wanted` begins, including overlapping occurrences, of which only one can be replaced (`apart`). */
function occurrences(text: string, wanted: string, where: string, apart: boolean): Int32Array {
  if (wanted === "") {
    throw failure("empty_text", `${where} is empty; it must be text from the file.`);
  }
  return placesOf(text, wanted, apart ? wanted.length : 1);
}

/** Where an expression matches, line by line as search_text does it. */
function regexMatches(text: string, expression: string, template: string): Splice[] {
  const { source, flags } = textPattern(expression, {
    literal: false,
    ignoreCase: false,
    exact: true,
  });
  const regex = new RegExp(source, `${flags}g`);
  const found: Splice[] = [];
  for (let at = 0; at < text.length; ) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    for (const match of text.slice(at, end).matchAll(regex)) {
      const start = at + match.index;
      found.push({ start, end: start + match[0].length, text: filled(template, match) });
    }
    at = end + 1;
  }
  return found;
}

/** Fills a template with the groups' matches; references to missing groups stay as written. */
function filled(template: string, match: RegExpMatchArray): string {
  return template.replace(/\$(?:([$&])|(\d\d?)|<([^>]*)>)/g, (written, sign, number, name) => {
    if (sign !== undefined) return sign === "$" ? "$" : match[0];
    const isThere =
      name === undefined ? Number(number) < match.length : name in (match.groups ?? {});
    return isThere
      ? ((name === undefined ? match[Number(number)] : match.groups?.[name]) ?? "")
      : written;
  });
}

/** Only the difference between old and new text is replaced, so common parts keep their bytes. */
function narrowed(oldText: string, { start, text }: Splice): Splice[] {
  return differences(oldText, text).map(({ oldStart, oldEnd, newStart, newEnd }) => {
    return { start: start + oldStart, end: start + oldEnd, text: text.slice(newStart, newEnd) };
  });
}

function ambiguous(
  path: string,
  text: string,
  matches: readonly Splice[],
  where: string,
): ToolError {
  const lines = matches
    .slice(0, MAX_PLACES)
    .map(({ start }) => grouped(1 + feedsIn(text, 0, start)));
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
  afterOthers: boolean,
): ToolError {
  const near = closest(text, oldText);
  const after = afterOthers ? " after the edits before it" : "";
  const place =
    near === undefined
      ? " The file contains nothing similar."
      : `${near.whiteSpaceOnly ? " It differs only in whitespace from" : " The closest match is"} line ${grouped(near.line)}:\n${near.excerpt}`;
  const wanted = `${JSON.stringify(clip(oldText, 120))}${oldText.length > 120 ? "…" : ""}`;
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

/** `diff`: unified; empty if the edits change nothing. */
export type EditedBytes = ReturnType<typeof editBytes>;

/** Replaces parts of a text, without changing any other byte. @throws ToolError as `editText`. */
export function editBytes({ path, bytes, form, edits, maxChars, ...options }: EditWork) {
  const text = unified(
    decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), form),
    form.eol,
  );
  const edited = editText(path, text.text, edits, options);
  const { text: changed, regions, ...outcome } = edited;
  const { text: diff, ...counts } = unifiedDiff(path, text.text, changed, regions, maxChars);
  const after = changed === text.text ? undefined : encode(text.restore(changed, regions), form);
  return { after, diff, ...counts, ...outcome };
}
