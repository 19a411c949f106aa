import { once } from "node:events";
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { Duplex, pipeline, type Readable } from "node:stream";
import { rootCertificates } from "node:tls";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { ToolError } from "../answer/errors.ts";
import { oneLine } from "../answer/untrusted.ts";
import { startDeadline } from "../deadline.ts";
import { portOf, type UrlGuard } from "./url-guard.ts";

export interface HttpClientOptions {
  readonly guard: UrlGuard;
  readonly budgets: {
    /** Maximum bytes of the body after decoding; longer bodies are truncated. */
    readonly bytes: number;
    /** Milliseconds until the headers of one hop. */
    readonly headersMs: number;
    /** Milliseconds for the whole download, including redirects. */
    readonly totalMs: number;
    readonly redirects: number;
  };
  /** Certificates to trust in addition to those of Node.js, in PEM. */
  readonly ca?: readonly string[] | undefined;
  /**
   * The headers that the user configured for a URL. They are not sent to a redirect's target unless it is configured
   * too.
   */
  readonly headersFor?: (url: URL) => Readonly<Record<string, string>>;
  /**
   * Agents for a proxy. Names are checked here before a request and resolved again by the proxy, which must enforce its
   * own rules; a name that only the proxy can resolve is left to it.
   */
  readonly proxy?: { readonly http: HttpAgent; readonly https: HttpAgent } | undefined;
  /** Creates a cookie jar for a download whose redirects set cookies; without it, cookies are dropped. */
  readonly cookieJar?: () => Promise<HttpCookieJar>;
}

/** The cookies of one download, sent only to the URLs that they are valid for. */
export interface HttpCookieJar {
  /** @param cookie a Set-Cookie header; one that is not valid for the URL is ignored */
  set(url: URL, cookie: string): void;
  /** The Cookie header for a URL; empty if there is none. */
  get(url: URL): string;
}

export interface HttpAnswer {
  readonly url: URL;
  readonly redirects: readonly URL[];
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded (gzip, br, deflate). */
  readonly body: Buffer;
  readonly isCut: boolean;
}

export interface HttpGet {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** A lower limit than the client's, for example for robots.txt. */
  readonly bytes?: number;
}

/** One encoding is normal, two occur; more are an attack, since each can multiply its input a thousandfold. */
const MAX_ENCODINGS = 2;
const MAX_HEADER_BYTES = 32_768;

/**
 * Downloads from the web through a `UrlGuard`: it connects only to addresses that were checked, and checks every
 * redirect.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #http: HttpAgent;
  readonly #https: HttpAgent;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    const { ca, proxy } = options;
    const settings = { keepAlive: true, maxSockets: 8, timeout: 30_000 };
    this.#http = proxy?.http ?? new HttpAgent(settings);
    this.#https =
      proxy?.https ??
      new HttpsAgent({
        ...settings,
        ...(ca === undefined ? {} : { ca: [...rootCertificates, ...ca] }),
      });
  }

  /**
   * Gets a URL.
   *
   * @throws ToolError `denied` and `invalid` from the guard; `timeout` after a time limit; `unavailable` if the network
   * or the server fails; `too_large` for headers and encodings over their limits. An error status does not throw.
   */
  async get(url: string | URL, { headers = {}, signal, bytes }: HttpGet = {}): Promise<HttpAnswer> {
    const { guard, budgets } = this.#options;
    const redirects: URL[] = [];
    let jar: HttpCookieJar | undefined;
    let next = guard.check(url);
    const deadline = startDeadline(
      budgets.totalMs,
      signal,
      () =>
        new ToolError(
          "timeout",
          `${shown(next)} did not finish within ${budgets.totalMs / 1000} s.`,
          {
            hint: "Try again later, or ask the user to raise --timeout.",
          },
        ),
    );
    try {
      for (;;) {
        await this.#checkBeforeProxy(next, deadline.signal);
        const cookie = jar?.get(next) ?? "";
        const sent = cookie === "" ? headers : { ...headers, cookie };
        const response = await this.#retried(next, sent, deadline.signal);
        const target = redirectOf(response, next);
        if (target === undefined) {
          const max = Math.min(bytes ?? budgets.bytes, budgets.bytes);
          const { body, isCut } = await bodyOf(response, max, deadline.signal);
          const status = response.statusCode ?? 0;
          return { url: next, redirects, status, headers: plainHeaders(response), body, isCut };
        }
        response.destroy();
        const cookies = response.headers["set-cookie"] ?? [];
        if (cookies.length > 0) jar ??= await this.#options.cookieJar?.();
        for (const one of cookies) jar?.set(next, one);
        redirects.push(next);
        if (redirects.length > budgets.redirects)
          throw new ToolError(
            "unavailable",
            `${shown(url)} redirects more than ${budgets.redirects} times.`,
            {
              hint: `The last address was ${shown(next)}.`,
            },
          );
        next = guard.check(target);
      }
    } catch (error) {
      deadline.signal.throwIfAborted();
      throw explained(error, next);
    } finally {
      deadline.end();
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  /** A proxy does the lookup itself, so the name's addresses are checked before. */
  async #checkBeforeProxy(url: URL, signal: AbortSignal): Promise<void> {
    const { guard, proxy } = this.#options;
    if (proxy === undefined) return;
    try {
      await guard.place(url.hostname, portOf(url), signal);
    } catch (error) {
      const isUnknownHere = error instanceof ToolError && error.kind === "unavailable";
      if (!isUnknownHere) throw error;
    }
  }

  /** The server may close a kept-alive connection just when it is reused, so the request is tried once more. */
  async #retried(
    url: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    try {
      return await this.#request(url, headers, signal);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if ((code !== "ECONNRESET" && code !== "EPIPE") || signal.aborted) throw error;
      return await this.#request(url, headers, signal);
    }
  }

  async #request(
    url: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const { guard, budgets, headersFor, ca, proxy } = this.#options;
    const isHttps = url.protocol === "https:";
    const port = portOf(url);
    // Node.js requests a single address with --no-network-family-autoselection.
    const lookup: LookupFunction = (host, { all }, done) => {
      guard.place(host, port, signal).then(
        ({ addresses }) =>
          all === true
            ? done(null, [...addresses])
            : done(null, addresses[0]?.address ?? "", addresses[0]?.family),
        (error: Error) => done(error, []),
      );
    };
    const sent = (isHttps ? requestHttps : requestHttp)(url, {
      agent: isHttps ? this.#https : this.#http,
      headers: { "accept-encoding": "gzip, br, deflate", ...headers, ...headersFor?.(url) },
      lookup,
      // A proxy's agent makes the inner connection with the options of the request.
      ...(proxy === undefined || ca === undefined ? {} : { ca: [...rootCertificates, ...ca] }),
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
      signal,
    });
    const seconds = budgets.headersMs / 1000;
    const late = () =>
      new ToolError("timeout", `${shown(url)} sent no headers within ${seconds} s.`);
    const deadline = startDeadline(budgets.headersMs, signal, late);
    // It may also fail while the body is being read, which the response reports.
    sent.on("error", () => undefined).end();
    try {
      const [response]: IncomingMessage[] = await once(sent, "response", {
        signal: deadline.signal,
      });
      if (response === undefined) throw new TypeError("no response");
      return response;
    } catch (error) {
      sent.destroy();
      deadline.signal.throwIfAborted();
      throw error;
    } finally {
      deadline.end();
    }
  }
}

function redirectOf(response: IncomingMessage, from: URL): URL | string | undefined {
  const { statusCode = 0, headers } = response;
  if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined)
    return undefined;
  return URL.canParse(headers.location, from.href)
    ? new URL(headers.location, from)
    : headers.location;
}

/** The decoded body, cut at `max` bytes, so a decompression bomb never gets larger than that. */
async function bodyOf(
  response: IncomingMessage,
  max: number,
  signal: AbortSignal,
): Promise<{ body: Buffer; isCut: boolean }> {
  const encodings = (response.headers["content-encoding"] ?? "")
    .split(",")
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== "" && one !== "identity");
  if (encodings.length > MAX_ENCODINGS) {
    response.destroy();
    throw new ToolError(
      "too_large",
      `The response is encoded ${encodings.length} times; at most ${MAX_ENCODINGS} encodings are supported.`,
    );
  }
  let stream: Readable = response;
  for (const encoding of encodings.reverse()) {
    const decoder = DECODERS.get(encoding)?.();
    if (decoder === undefined) {
      response.destroy();
      throw new ToolError(
        "unavailable",
        `The response uses the encoding "${oneLine(encoding.slice(0, 40))}", which is not supported.`,
      );
    }
    const source = stream;
    source.on("error", (error) => decoder.destroy(error));
    stream = source.pipe(decoder);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stop = (): void => void stream.destroy(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of stream) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > max) break;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    response.destroy();
    stream.destroy();
  }
  const body = Buffer.concat(chunks);
  return { body: body.subarray(0, max), isCut: body.length > max };
}

const DECODERS = new Map<string, () => Duplex>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["br", createBrotliDecompress],
  ["deflate", createDeflateDecoder],
]);

/** Decodes deflate with zlib's header (RFC 9110, 8.4.1.2) or without, as some servers send it and browsers accept. */
function createDeflateDecoder(): Duplex {
  return Duplex.from(async function* (source: AsyncIterable<Buffer>) {
    const chunks = source[Symbol.asyncIterator]();
    const first = await chunks.next();
    if (first.done === true) return;
    const all = async function* (): AsyncGenerator<Buffer> {
      yield first.value;
      yield* { [Symbol.asyncIterator]: () => chunks };
    };
    // The lower half of zlib's first byte is its method, 8 (RFC 1950, 2.2).
    const inflate = ((first.value[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
    yield* pipeline(all, inflate, () => undefined);
  });
}

function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
    ),
  );
}

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the server closed the connection",
  EPIPE: "the server closed the connection",
  ETIMEDOUT: "the connection timed out",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  HPE_HEADER_OVERFLOW: "its headers are larger than 32 KiB",
  Z_DATA_ERROR: "its compressed body is damaged",
  Z_BUF_ERROR: "its compressed body is incomplete",
};

function explained(error: unknown, url: URL): unknown {
  if (error instanceof ToolError || !(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const why =
    MEANINGS[code] ??
    (code.startsWith("HPE_")
      ? `its HTTP response is invalid (${code})`
      : /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)
        ? `its certificate is not trusted (${code})`
        : `the download failed (${code === "" ? oneLine(error.message.slice(0, 100)) : code})`);
  return new ToolError("unavailable", `${shown(url)} could not be read: ${why}.`, {
    hint: "Check the URL; if it is correct, try again later.",
    cause: error,
  });
}

function shown(url: string | URL): string {
  const text = String(url);
  return oneLine(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
