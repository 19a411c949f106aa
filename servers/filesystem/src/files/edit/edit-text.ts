import { clip, grouped, oneLine, ToolError } from "@refmcp/core/answer";
import { compose, difference, type Region, type Splice, spliced } from "./changed-ranges.ts";
import { closest } from "./closest-match.ts";
import { withLf } from "./line-endings.ts";

export interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

export interface EditedText {
  readonly text: string;
  /** Where it differs from the text before. */
  readonly regions: readonly Region[];
  readonly replacements: number;
}

/** How many places of an ambiguous match are named. */
const MOST_PLACES = 10;

/**
 * Does the edits one after the other, each on the result of those before it. All texts have LF line ends.
 *
 * @param replaceAll replaces every occurrence; otherwise each `oldText` must occur exactly once.
 * @throws ToolError `not_found` with the closest place, `invalid` for an empty or ambiguous `oldText`.
 */
export function editText(
  path: string,
  text: string,
  edits: readonly Edit[],
  replaceAll: boolean,
): EditedText {
  const together = replaceAll || edits.length === 1 ? undefined : editTogether(text, edits);
  return together ?? editInTurn(path, text, edits, replaceAll);
}

/**
 * Does edits that have nothing to do with each other in one go, so that a large text is put together once and not once
 * per edit. The outcome is the same as of `editInTurn`.
 *
 * @returns undefined where they may have to do with each other, or one does not match once.
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
  // A new text, with what stands beside it, may hold what a later edit looks for.
  for (const { newStart, newEnd } of compose([], splices)) {
    const around = edited.slice(Math.max(0, newStart - longest), newEnd + longest);
    if (wanted.some((oldText) => around.includes(oldText))) return undefined;
  }
  const changes = splices.flatMap(({ start, end, text: newText }) =>
    splicesOf([start], text.slice(start, end), newText),
  );
  return { text: edited, regions: compose([], changes), replacements: edits.length };
}

/** Does the edits one after the other, each on the result of those before it. */
export function editInTurn(
  path: string,
  text: string,
  edits: readonly Edit[],
  replaceAll: boolean,
): EditedText {
  let current = text;
  let regions: Region[] = [];
  let replacements = 0;
  for (const [index, edit] of edits.entries()) {
    const where = edits.length === 1 ? "oldText" : `oldText of edit ${index + 1} of ${edits.length}`;
    const oldText = withLf(edit.oldText);
    const newText = withLf(edit.newText);
    const starts = occurrences(current, oldText, where, replaceAll);
    if (starts.length === 0) throw noMatch(path, current, oldText, where, index > 0);
    if (starts.length > 1 && !replaceAll) throw ambiguous(path, current, starts, where);
    replacements += starts.length;
    const splices = splicesOf(starts, oldText, newText);
    regions = compose(regions, splices);
    current = spliced(current, splices);
  }
  return { text: current, regions, replacements };
}

/** Where `wanted` begins; those that overlap count too, but only one of them can be replaced (`apart`). */
function occurrences(text: string, wanted: string, where: string, apart: boolean): number[] {
  if (wanted === "") {
    throw new ToolError("invalid", `${where} is empty; it must be text that is in the file.`, {
      hint: "To add text, take the line beside it as oldText and repeat it in newText; to append, use write_file with mode append.",
    });
  }
  const starts: number[] = [];
  const step = apart ? wanted.length : 1;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + step)) starts.push(at);
  return starts;
}

/** Only what differs between old and new is touched: what both have in common keeps its bytes. */
function splicesOf(starts: readonly number[], oldText: string, newText: string): Splice[] {
  const changed = difference(oldText, newText);
  if (changed === undefined) return [];
  const text = newText.slice(changed.newStart, changed.newEnd);
  return starts.map((start) => ({ start: start + changed.oldStart, end: start + changed.oldEnd, text }));
}

function ambiguous(path: string, text: string, starts: readonly number[], where: string): ToolError {
  const lines = lineNumbers(text, starts.slice(0, MOST_PLACES)).map((line) => grouped(line));
  const more = starts.length > MOST_PLACES ? ` and ${grouped(starts.length - MOST_PLACES)} more` : "";
  return new ToolError(
    "invalid",
    `${where} occurs ${grouped(starts.length)} times in "${oneLine(path)}", at lines ${lines.join(", ")}${more}; nothing was changed.`,
    { hint: "Add lines around it until it is unique, or set replace_all to change every occurrence." },
  );
}

function noMatch(
  path: string,
  text: string,
  oldText: string,
  where: string,
  afterOthers: boolean,
): ToolError {
  const wanted = JSON.stringify(clip(oldText, 120));
  const near = closest(text, oldText);
  const after = afterOthers ? " after the edits before it" : "";
  const place =
    near === undefined
      ? " Nothing in the file resembles it."
      : `${near.whiteSpaceOnly ? " It differs in white space only from" : " The closest place is"} line ${grouped(near.line)}:\n${near.excerpt}`;
  return new ToolError(
    "not_found",
    `${where} ${wanted}${oldText.length > 120 ? "…" : ""} is not in "${oneLine(path)}"${after}; nothing was changed.${place}`,
    {
      hint: "Copy oldText exactly from read_text_file (indentation included, without line numbers), then repeat all edits.",
    },
  );
}

/** The line numbers, from 1, of sorted places in a text. */
function lineNumbers(text: string, places: readonly number[]): number[] {
  const numbers: number[] = [];
  let line = 1;
  let at = 0;
  for (const place of places) {
    for (let next = text.indexOf("\n", at); next !== -1 && next < place; next = text.indexOf("\n", at)) {
      line += 1;
      at = next + 1;
    }
    numbers.push(line);
  }
  return numbers;
}
