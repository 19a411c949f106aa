import type { Page } from "playwright";
import { mixedContent } from "../check/events.ts";
import { isFailed, type PageEvents, type RequestLine } from "../session/page-events.ts";
import { all, graded, type Item, met, type Verdicts } from "./rules.ts";

/** A response as the audit sees it. */
interface Resource {
  readonly url: string;
  readonly kind: string;
  readonly status: number;
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
}

/** What a page loaded: bytes on the wire by kind, and the largest files. */
export interface Weight {
  readonly bytes: number;
  readonly requests: number;
  readonly by_kind: Record<string, number>;
  readonly largest: readonly { readonly url: string; readonly bytes: number }[];
}

const MAX_LARGEST = 5;
/** Smaller texts do not get smaller by compression. */
const COMPRESSIBLE_BYTES = 1_400;
const TEXTUAL = /^(?:text\/|image\/svg)|javascript|json|xml|wasm|font-(?:otf|ttf)|\/(?:otf|ttf)/;
const STATIC = /^(?:script|stylesheet|image|font|media)$/;
const HALF_YEAR_S = 15_552_000;

/** Where the browser trusts http as if it were https. */
const isLocal = ({ hostname }: URL): boolean =>
  /^(?:localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(hostname);

async function resourceOf({ request, url }: RequestLine): Promise<Resource | undefined> {
  const response = request.existingResponse();
  // Data and blob URLs are part of another response.
  if (response === null || !/^https?:/.test(url)) return undefined;
  const [sizes, headers, cookies] = await Promise.all([
    request.sizes().catch(() => undefined),
    response.allHeaders().catch(() => ({})),
    response.headerValues("set-cookie").catch(() => []),
  ]);
  return {
    url,
    status: response.status(),
    kind: request.resourceType(),
    bytes: sizes?.responseBodySize ?? 0,
    headers,
    cookies,
  };
}

const sized = ({ url, bytes }: Resource): Item => ({ text: `${url} (${bytes} bytes)` });
const largestFirst = (some: readonly Resource[]) => some.toSorted((a, b) => b.bytes - a.bytes);

/** The verdicts about what a page loaded, how it was sent, and what it logged. */
export async function networkVerdicts(page: Page, events: PageEvents) {
  const found = await Promise.all(events.requests.map(resourceOf));
  const resources = found.filter((one) => one !== undefined);
  const main = await events.place.response?.allHeaders().catch(() => undefined);
  const url = new URL(page.url());
  const { weight, verdicts } = weightOf(resources);
  const status = events.place.response?.status();
  const robots = main?.["x-robots-tag"];
  const text = (one: string): Item => ({ text: one });
  return {
    weight,
    verdicts: {
      weight: verdicts,
      headers: headerVerdicts(main ?? {}, url, resources, mixedContent(page, events)),
      seo: {
        status: status === undefined ? undefined : met(status < 400, `it is ${status}`),
        ...(robots !== undefined && /\b(?:noindex|none)\b/i.test(robots)
          ? { crawlable: met(false, `x-robots-tag: ${robots}`) }
          : {}),
      },
      best_practices: {
        "console errors": all(
          events.console.flatMap(({ level, text: message, url: source, line }) =>
            // Those are failed requests.
            level === "error" && !message.startsWith("Failed to load resource")
              ? text(source === "" ? message : `${message} (${source}:${line})`)
              : [],
          ),
        ),
        "page errors": all(events.pageErrors.map(text)),
        "failed requests": all(
          events.requests
            .filter(isFailed)
            .map((one) => text(`${one.method} ${one.url}: ${one.failure ?? one.status}`)),
        ),
        https: met(url.protocol === "https:" || isLocal(url), url.origin),
      } satisfies Verdicts,
    },
  };
}

function weightOf(resources: readonly Resource[]): { weight: Weight; verdicts: Verdicts } {
  const bytes = resources.reduce((sum, one) => sum + one.bytes, 0);
  const kinds = [...new Set(resources.map(({ kind }) => kind))].sort();
  const ofKind = (kind: string) =>
    resources.reduce((sum, one) => (one.kind === kind ? sum + one.bytes : sum), 0);
  const largest = largestFirst(resources).slice(0, MAX_LARGEST);
  const texts = resources.filter(
    ({ bytes: size, headers }) =>
      size > COMPRESSIBLE_BYTES && TEXTUAL.test(headers["content-type"] ?? ""),
  );
  const plain = texts.filter(
    ({ headers }) => (headers["content-encoding"] ?? "identity") === "identity",
  );
  const files = resources.filter(({ kind, status }) => STATIC.test(kind) && status < 400);
  const uncached = files.filter(
    ({ headers: { "cache-control": control = "", etag, expires, "last-modified": modified } }) =>
      /no-store|max-age=0\b/.test(control) ||
      (!/max-age=[1-9]|immutable/.test(control) &&
        [etag, expires, modified].every((one) => one === undefined)),
  );
  /** The share by bytes, so that one large file counts more than many small ones. */
  const shared = (bad: readonly Resource[], of: readonly Resource[]) =>
    of.length === 0
      ? undefined
      : {
          share: 1 - sum(bad) / Math.max(1, sum(of)),
          items: largestFirst(bad).map(sized),
        };
  const sum = (some: readonly Resource[]) => some.reduce((total, one) => total + one.bytes, 0);
  const isHeavy = bytes > 1e6;
  return {
    weight: {
      bytes,
      requests: resources.length,
      by_kind: Object.fromEntries(kinds.map((kind) => [kind, ofKind(kind)])),
      largest: largest.map((one) => ({ url: one.url, bytes: one.bytes })),
    },
    verdicts: {
      bytes: { share: graded(bytes, 1e6, 5e6), items: isHeavy ? largest.map(sized) : [] },
      compression: shared(plain, texts),
      caching: shared(uncached, files),
      requests: {
        share: graded(resources.length, 50, 200),
        items: resources.length > 50 ? [{ text: `${resources.length} requests` }] : [],
      },
    },
  };
}

function headerVerdicts(
  headers: Readonly<Record<string, string>>,
  url: URL,
  resources: readonly Resource[],
  mixed: readonly string[],
): Verdicts {
  const isEncrypted = url.protocol === "https:";
  const csp = headers["content-security-policy"];
  const maxAge = /max-age="?(\d+)/i.exec(headers["strict-transport-security"] ?? "")?.[1];
  const framing =
    /\bframe-ancestors\b/i.test(csp ?? "") || headers["x-frame-options"] !== undefined;
  const versions = ["server", "x-powered-by", "x-aspnet-version"].filter((name) =>
    /\d/.test(headers[name] ?? ""),
  );
  const own = resources.filter(({ url: from }) => new URL(from).origin === url.origin);
  // The browser logs what it loads, too.
  const insecure = [...new Set(mixed)].filter(
    (text) => !mixed.some((other) => other !== text && text.includes(other)),
  );
  // Without their values.
  const cookies = own.flatMap(({ cookies: lines }) => lines.map(cookieOf));
  const without = (attribute: RegExp, isMeant = (_name: string) => true) => {
    const meant = cookies.filter(({ name }) => isMeant(name));
    const bad = meant.filter(({ attributes }) => !attribute.test(attributes));
    const names = [...new Set(bad.map(({ name }) => name))];
    return meant.length === 0 ? undefined : all(names.map((text) => ({ text })));
  };
  return {
    csp: met(
      csp !== undefined && unsafeSource(csp) === undefined,
      csp === undefined ? "missing" : unsafeSource(csp),
    ),
    hsts:
      isEncrypted && !isLocal(url)
        ? met(Number(maxAge ?? 0) >= HALF_YEAR_S, hstsText(maxAge))
        : undefined,
    framing: met(framing),
    nosniff: met(/nosniff/i.test(headers["x-content-type-options"] ?? "")),
    referrer: met(
      /^(?:.*,)?\s*(?!unsafe-url|no-referrer-when-downgrade)[a-z-]+\s*$/i.test(
        headers["referrer-policy"] ?? "",
      ),
      headers["referrer-policy"],
    ),
    permissions: met(headers["permissions-policy"] !== undefined),
    "cookie Secure": isLocal(url) && !isEncrypted ? undefined : without(/;\s*secure\b/i),
    // A script may need others, such as one with the chosen theme or a token against CSRF.
    "cookie HttpOnly": without(/;\s*httponly\b/i, (name) =>
      /sess|sid\b|auth|login|jwt|(?<!csrf|xsrf)-?_?token/i.test(name),
    ),
    "cookie SameSite": without(/;\s*samesite=(?:lax|strict)\b/i),
    "mixed content": isEncrypted ? all(insecure.map((text) => ({ text }))) : undefined,
    "server version": met(
      versions.length === 0,
      versions.map((name) => `${name}: ${headers[name]}`).join(", "),
    ),
  };
}

const hstsText = (maxAge: string | undefined) =>
  maxAge === undefined ? "missing" : `max-age=${maxAge}`;

function cookieOf(line: string): { readonly name: string; readonly attributes: string } {
  const [pair = "", ...attributes] = line.split(";");
  return { name: pair.split("=")[0]?.trim() ?? "", attributes: `;${attributes.join(";")}` };
}

/** What makes the scripts of a policy unsafe; undefined if nothing does. */
function unsafeSource(csp: string): string | undefined {
  const directives = new Map(
    csp.split(";").map((part) => {
      const [name = "", ...sources] = part.trim().toLowerCase().split(/\s+/);
      return [name, sources] as const;
    }),
  );
  const sources = directives.get("script-src") ?? directives.get("default-src");
  if (sources === undefined) return "it has no script-src or default-src";
  // A nonce, a hash or strict-dynamic switches 'unsafe-inline' and hosts off.
  const isStrict = sources.some((one) => /^'(?:nonce-|sha\d+-|strict-dynamic')/.test(one));
  return sources.find(
    (one) =>
      one === "'unsafe-eval'" || (!isStrict && /^(?:'unsafe-inline'|\*|https?:|data:)$/.test(one)),
  );
}
