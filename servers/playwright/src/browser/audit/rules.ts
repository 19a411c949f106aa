import type { Severity } from "../language/ast.ts";

export const CATEGORIES = [
  "accessibility",
  "vitals",
  "weight",
  "seo",
  "headers",
  "best_practices",
  "lighthouse",
] as const;
export type Category = (typeof CATEGORIES)[number];
/** The categories with a score of this server. */
export type Scored = Exclude<Category, "lighthouse">;

/** What is wrong: an element, as CSS, or a text such as a URL or a header. */
export interface Item {
  readonly css?: string;
  readonly text?: string;
}

/** The result of a rule that applies to a page: which share of it is right, from 0 to 1, and what is not. */
export interface Verdict {
  readonly share: number;
  readonly items: readonly Item[];
  /** How many items there are, if not all are listed. */
  readonly count?: number;
}

/** Verdicts by the names of rules; a rule that does not apply to the page has none. */
export type Verdicts = { readonly [rule: string]: Verdict | undefined };

interface Rule {
  readonly weight: number;
  /** What to change. */
  readonly fix: string;
}

/** The weight of an axe-core rule in the accessibility score. */
export const IMPACT_WEIGHTS: Readonly<Record<Severity, number>> = {
  critical: 10,
  serious: 7,
  moderate: 3,
  minor: 1,
};

const row = (weight: number, fix: string): Rule => ({ weight, fix });

/** Every rule with its weight in the score of its category. The rules of accessibility are axe-core's. */
export const RULES: Readonly<
  Record<Exclude<Scored, "accessibility">, Readonly<Record<string, Rule>>>
> = {
  vitals: {
    lcp: row(
      25,
      "Load the largest element earlier: no lazy loading, a preload, a smaller file, a faster response.",
    ),
    tbt: row(25, "Split long scripts, load them with defer, or leave them out."),
    cls: row(
      25,
      "Reserve space: width and height of images and frames, and fonts of matching size.",
    ),
    inp: row(10, "Shorten the event handlers, and do the rest after the next frame."),
    fcp: row(10, "Load fewer style sheets and scripts in the head."),
    ttfb: row(5, "Answer faster: cache the page, or move work out of the request."),
  },
  weight: {
    bytes: row(5, "Send less: 1 MB or less scores 100, 5 MB scores 0."),
    compression: row(3, "Compress text with gzip, brotli or zstd (content-encoding)."),
    caching: row(
      2,
      "Send cache-control with a max-age, or an etag, for scripts, styles, images and fonts.",
    ),
    requests: row(1, "Combine or drop requests: 50 or fewer score 100, 200 score 0."),
  },
  seo: {
    crawlable: row(10, "Remove noindex from the robots meta element or the x-robots-tag header."),
    title: row(5, "Add a <title> that describes the page."),
    description: row(5, 'Add <meta name="description" content="…">.'),
    status: row(5, "Answer with a status from 200 to 399."),
    canonical: row(3, "Have one canonical link, with an absolute URL that can be indexed."),
    language: row(3, 'Set the language: <html lang="en">.'),
    heading: row(3, "Give the page an <h1> with text."),
    "robots.txt": row(
      3,
      "Correct robots.txt: valid directives, no server error, and this page allowed.",
    ),
    "link addresses": row(3, "Give links an href that a crawler can follow."),
    "link texts": row(3, "Describe the linked page in the link's text."),
    "image texts": row(3, "Give images an alt attribute; an empty one for decoration."),
    hreflang: row(2, "Use valid language codes and absolute URLs in hreflang links."),
    "structured data": row(2, "Correct the JSON-LD: it must be JSON with @context and @type."),
  },
  headers: {
    csp: row(
      10,
      "Send a content-security-policy whose script-src has no 'unsafe-inline', 'unsafe-eval' or *.",
    ),
    hsts: row(5, "Send strict-transport-security with a max-age of at least 180 days (15552000)."),
    framing: row(5, "Send frame-ancestors in the content-security-policy, or x-frame-options."),
    nosniff: row(3, "Send x-content-type-options: nosniff."),
    referrer: row(3, "Send referrer-policy, for example strict-origin-when-cross-origin."),
    permissions: row(
      1,
      "Send permissions-policy for what the page does not use, for example camera=().",
    ),
    "cookie Secure": row(5, "Set cookies with Secure."),
    "cookie HttpOnly": row(5, "Set cookies that scripts do not need with HttpOnly."),
    "cookie SameSite": row(3, "Set cookies with SameSite=Lax or Strict."),
    "mixed content": row(5, "Load everything over https."),
    "server version": row(1, "Leave version numbers out of server and x-powered-by."),
  },
  best_practices: {
    "console errors": row(5, "Fix the causes of the console's errors."),
    "page errors": row(5, "Fix the uncaught errors."),
    "failed requests": row(3, "Fix or remove what cannot be loaded."),
    deprecations: row(5, "Replace deprecated browser features."),
    https: row(5, "Serve the page over https."),
    doctype: row(3, "Begin the document with <!doctype html>."),
    charset: row(3, 'Declare UTF-8 in the content-type header or with <meta charset="utf-8">.'),
    viewport: row(
      3,
      'Add <meta name="viewport" content="width=device-width, initial-scale=1">; allow zoom.',
    ),
    "broken images": row(3, "Correct the addresses of images that do not load."),
    "image aspect": row(2, "Show images in their own aspect ratio, or use object-fit."),
    "image size": row(2, "Send images in the size in which they are shown; srcset chooses one."),
  },
};

/** A rule that is either met or not. */
export const all = (items: readonly Item[]): Verdict => ({
  share: items.length === 0 ? 1 : 0,
  items,
});

/** A rule about the page as a whole. */
export const met = (isMet: boolean, text?: string): Verdict =>
  all(isMet ? [] : [text === undefined ? {} : { text }]);

/** The share of a measured value: 1 up to `good`, 0 from `bad` on, in proportion between them. */
export const graded = (value: number, good: number, bad: number): number =>
  Math.min(1, Math.max(0, (bad - value) / (bad - good)));

/**
 * The score of a category, from 0 to 100: the shares of the rules that apply, at least one, by weight. Rounded down, so
 * that only a page without findings has 100.
 */
export function scoreOf(
  results: readonly { readonly weight: number; readonly share: number }[],
): number {
  const whole = results.reduce((sum, { weight }) => sum + weight, 0);
  const reached = results.reduce((sum, { weight, share }) => sum + weight * share, 0);
  return Math.floor((100 * reached) / whole + 1e-9);
}
