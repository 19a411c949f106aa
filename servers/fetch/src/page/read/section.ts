/** The section of a page under a heading that a request names. */
import { nearest, ToolError } from "@refmcp/boundary/answer";
import { fold, outlineOf, sectionOf } from "./outline.ts";
import type { Page } from "./page.ts";

const MAX_TITLES = 20;

/**
 * The section under a heading with these words.
 *
 * @throws ToolError `not_found`
 */
export function sectionIn(page: Page, words: string, notes: readonly string[]): Page {
  const wanted = fold(words);
  const exact = sectionOf(page.text, (title) => fold(title) === wanted);
  const found = exact ?? sectionOf(page.text, (title) => fold(title).includes(wanted));
  if (found !== undefined) {
    const others = found.others.slice(0, MAX_TITLES).map((title) => JSON.stringify(title));
    const which =
      exact === undefined ? [`the first heading that contains ${JSON.stringify(words)}`] : [];
    const also = others.length > 0 ? [`other headings that match: ${others.join(", ")}`] : [];
    return { ...page, text: found.text, notes: [...notes, ...which, ...also] };
  }
  const titles = outlineOf(page.text).map(({ title }) => title);
  const near = nearest(words, titles);
  const shown = (near.length > 0 ? near : titles.slice(0, MAX_TITLES)).map((title) =>
    JSON.stringify(title),
  );
  const known =
    titles.length === 0
      ? "The page has no headings; use fetch_find."
      : `${near.length > 0 ? "Similar headings" : "Its headings"}: ${shown.join(", ")}.`;
  throw new ToolError("not_found", `The page has no heading ${JSON.stringify(words)}.`, {
    hint: `${known} For an element with an id, add #id to the URL.`,
  });
}
