/** The headings of a text in Markdown, and the sections under them. */
import { nearest, ToolError } from "@refmcp/boundary/answer";

/** A heading of a page, and its position. */
interface Heading {
  /** 1 to 6. */
  readonly level: number;
  readonly title: string;
  /** Where its line begins, in characters: a start_index. */
  readonly index: number;
}

const MAX_HEADINGS = 20_000;
/** How many characters of a heading's line are read; titles are cut to 200 characters. */
const READ_CHARS = 2_000;

/** The headings of a Markdown text, outside code. */
export function outlineOf(markdown: string): Heading[] {
  const headings: Heading[] = [];
  let fence: string | undefined;
  let index = 0;
  for (const line of markdown.split("\n")) {
    const mark = /^ {0,3}(```+|~~~+)/.exec(line)?.[1];
    if (mark !== undefined && fence === undefined) fence = mark;
    else if (mark !== undefined && fence !== undefined && mark.startsWith(fence)) fence = undefined;
    else if (fence === undefined) {
      const [begin = "", level] = /^ {0,3}(#{1,6})[ \t]/.exec(line.slice(0, 20)) ?? [];
      const title =
        level === undefined ? "" : plain(line.slice(begin.length, begin.length + READ_CHARS));
      if (level !== undefined && title !== "" && headings.length < MAX_HEADINGS)
        headings.push({ level: level.length, title, index });
    }
    index += line.length + 1;
  }
  return headings;
}

/**
 * The section under the first heading that matches, up to the next of the same or a higher level, and the titles of the
 * other headings that match.
 */
export function sectionOf(
  markdown: string,
  matches: (title: string) => boolean,
): { title: string; text: string; others: string[] } | undefined {
  const headings = outlineOf(markdown);
  const [first, ...others] = headings.filter(({ title }) => matches(title));
  if (first === undefined) return undefined;
  const next = headings.find(({ index, level }) => index > first.index && level <= first.level);
  const text = markdown.slice(first.index, next?.index).trim();
  return { title: first.title, text, others: others.map(({ title }) => title) };
}

const MAX_TITLES = 20;

/**
 * The section under a heading with these words, and what a reader must know about the choice.
 *
 * @throws ToolError `not_found`
 */
export function namedSection(markdown: string, words: string): { text: string; notes: string[] } {
  const wanted = fold(words);
  const exact = sectionOf(markdown, (title) => fold(title) === wanted);
  const section = exact ?? sectionOf(markdown, (title) => fold(title).includes(wanted));
  const list = (titles: readonly string[]): string =>
    titles
      .slice(0, MAX_TITLES)
      .map((title) => JSON.stringify(title))
      .join(", ");
  if (section !== undefined) {
    const which = exact === undefined ? [`the first heading that contains ${list([words])}`] : [];
    const { text, others } = section;
    const also = others.length > 0 ? [`other headings that match: ${list(others)}`] : [];
    return { text, notes: [...which, ...also] };
  }
  const titles = outlineOf(markdown).map(({ title }) => title);
  const near = nearest(words, titles);
  const headings =
    near.length > 0 ? `Similar headings: ${list(near)}.` : `Its headings: ${list(titles)}.`;
  const available = titles.length === 0 ? "The page has no headings; use fetch_find." : headings;
  throw new ToolError("not_found", `The page has no heading ${JSON.stringify(words)}.`, {
    hint: `${available} For an element with an id, add #id to the URL.`,
  });
}

/** A title for comparisons. */
const fold = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, " ");

/**
 * A heading without its closing marks, links and emphasis. Every step is linear, since a page can have a heading that
 * only consists of `#` or `[`.
 */
function plain(title: string): string {
  let end = title.trimEnd().length;
  while (title[end - 1] === "#") end -= 1;
  return title
    .slice(0, end)
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/[*_`]+/g, "")
    .trim()
    .slice(0, 200);
}

/** The id that most generators give a heading, with every run of other characters than letters and digits as one hyphen. */
export const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.join("-") ?? "";
