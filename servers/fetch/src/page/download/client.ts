/** The HTTP client that the user's options ask for, with the boundary's guard: no request leaves without being checked. */
import { readFile } from "node:fs/promises";
import { ToolError } from "@refmcp/boundary/answer";
import { HttpClient } from "@refmcp/boundary/http-client";
import { createUrlGuard, parseHostRule, portOf, type UrlGuard } from "@refmcp/boundary/url-guard";

/** The user's options (options.ts). */
export interface WebOptions {
  readonly allowHost: readonly string[];
  readonly denyHost: readonly string[];
  readonly allowPrivate: boolean;
  readonly ignoreRobotsTxt: boolean;
  readonly userAgent: string | undefined;
  readonly header: readonly { readonly name: string; readonly value: string }[];
  readonly proxyUrl: URL | undefined;
  readonly caFile: string | undefined;
  readonly maxBytes: number;
  readonly timeout: number;
}

/** Maximum redirects, as in the official server (httpx) and browsers. */
const REDIRECTS = 20;
/** Milliseconds until the first byte of a response; a slower page is useless for a waiting model. */
const HEADERS_MS = 15_000;

/**
 * Creates the guarded HTTP client for the user's options, and its guard.
 *
 * @throws ToolError `invalid` for an invalid host; `unavailable` if the certificates cannot be read.
 */
export async function clientOf(
  options: WebOptions,
): Promise<{ client: HttpClient; guard: UrlGuard }> {
  const { allowHost, denyHost, allowPrivate, maxBytes, timeout } = options;
  const ca = await certificatesOf(options.caFile);
  const guard = createUrlGuard({ allowHosts: allowHost, denyHosts: denyHost, allowPrivate });
  const client = new HttpClient({
    guard,
    budgets: {
      bytes: maxBytes,
      totalMs: timeout * 1_000,
      headersMs: Math.min(HEADERS_MS, timeout * 1_000),
      redirects: REDIRECTS,
    },
    ca,
    headersFor: headersOf(options.header),
    proxy: options.proxyUrl,
    // Loaded with the first redirect that sets a cookie.
    async cookieJar() {
      const { CookieJar } = await import("tough-cookie");
      const jar = new CookieJar();
      return {
        set: (url, cookie) => void jar.setCookieSync(cookie, url.href, { ignoreError: true }),
        get: (url) => jar.getCookieStringSync(url.href),
      };
    },
  });
  return { client, guard };
}

async function certificatesOf(file: string | undefined): Promise<string[] | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch(() => "");
  if (text.includes("-----BEGIN CERTIFICATE-----")) return [text];
  throw new ToolError("unavailable", `--ca-file ${file} cannot be read or has no certificate.`, {
    hint: "Use a PEM file, which starts with -----BEGIN CERTIFICATE-----.",
  });
}

/** The headers configured for a URL's host; without encryption only for a host given as http://HOST. */
function headersOf(options: readonly { readonly name: string; readonly value: string }[]) {
  const rules = options.map(({ name, value }) => {
    const colon = value.indexOf(":");
    return {
      isPlain: /^http:\/\//i.test(name),
      host: parseHostRule(name.replace(/^https?:\/\//i, "")),
      name: value.slice(0, colon).toLowerCase(),
      value: value.slice(colon + 1).trim(),
    };
  });
  return (url: URL): Record<string, string> =>
    Object.fromEntries(
      rules
        .filter(
          ({ host, isPlain }) =>
            (isPlain || url.protocol === "https:") &&
            host.names(url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, ""), portOf(url)),
        )
        .map(({ name, value }) => [name, value]),
    );
}
