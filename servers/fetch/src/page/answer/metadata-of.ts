/** Everything about a page except its text, for `format: "metadata"`. */
import { fitCount } from "@refmcp/boundary/answer";
import { dateOf } from "../convert/date.ts";
import { outlineOf } from "../read/outline.ts";
import type { Snapshot } from "../read/snapshot.ts";
import type { Page } from "../read/views.ts";

/** Approximate maximum of everything except the outline, in characters. */
const FACTS_CHARS = 4_000;

/** The metadata of a page, with as many headings as fit into `budget` characters. */
export function metadataOf(snapshot: Snapshot, page: Page | undefined, budget: number) {
  const { answer, body, encoding, uri, isText } = snapshot;
  const { text, extractor, needsJavascript, reason, pages, next, canonical, refresh } = page ?? {};
  const { title, byline, published, modified, language, description } = page ?? {};
  const headings = outlineOf(text ?? "");
  const outline = headings.slice(0, fitCount(headings, budget - FACTS_CHARS));
  const redirects = answer.redirects.map(({ href }) => href);
  return {
    url: answer.url.href,
    redirected_from: redirects.length > 0 ? redirects : undefined,
    canonical: canonical === answer.url.href ? undefined : canonical,
    refresh,
    status: answer.status,
    mime_type: body.mimeType,
    charset: isText ? encoding.charset : undefined,
    charset_guessed: (isText && encoding.isGuess) || undefined,
    bytes: answer.body.length,
    cut: answer.isCut || undefined,
    last_modified: dateOf(answer.headers["last-modified"]),
    ...{ title, byline, published, modified, language, description, next_page: next, pages },
    extractor,
    needs_javascript: needsJavascript || undefined,
    not_converted: reason,
    characters: text?.length,
    outline: page === undefined ? undefined : outline,
    headings_left_out: headings.length - outline.length || undefined,
    snapshot: uri,
    fetched_at: new Date(snapshot.fetchedAt).toISOString(),
  };
}
