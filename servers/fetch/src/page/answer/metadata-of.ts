/** Everything about a page except its text, for `format: "metadata"`. */
import { fitting } from "@refmcp/boundary/answer";
import { dateOf } from "../convert/date.ts";
import { outlineOf } from "../read/outline.ts";
import type { Page } from "../read/page.ts";
import type { Snapshot } from "../read/snapshot.ts";

/** Approximate maximum of everything except the outline, in characters. */
const FACTS_CHARS = 4_000;

/** The metadata of a page, with as many headings as fit into `budget` characters. */
export function metadataOf(snapshot: Snapshot, page: Page | undefined, budget: number) {
  const { answer, body, encoding, uri, isText } = snapshot;
  const headings = page === undefined ? [] : outlineOf(page.text);
  const outline = headings.slice(0, fitting(headings, budget - FACTS_CHARS));
  return {
    url: answer.url.href,
    redirected_from:
      answer.redirects.length === 0 ? undefined : answer.redirects.map((from) => from.href),
    canonical: page?.canonical === answer.url.href ? undefined : page?.canonical,
    refresh: page?.refresh,
    status: answer.status,
    mime_type: body.mimeType,
    charset: isText ? encoding.charset : undefined,
    charset_guessed: (isText && encoding.isGuess) || undefined,
    bytes: answer.body.length,
    cut: answer.isCut || undefined,
    last_modified: dateOf(answer.headers["last-modified"]),
    title: page?.title,
    byline: page?.byline,
    published: page?.published,
    modified: page?.modified,
    language: page?.language,
    description: page?.description,
    next_page: page?.next,
    pages: page?.pages,
    extractor: page?.extractor,
    needs_javascript: page?.needsJavascript || undefined,
    not_converted: page?.reason,
    characters: page?.text.length,
    outline: page === undefined ? undefined : outline,
    headings_left_out: headings.length - outline.length || undefined,
    snapshot: uri,
    fetched_at: new Date(snapshot.fetchedAt).toISOString(),
  };
}
