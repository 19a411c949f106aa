import type { LookupFunction } from "node:net";
import { addAbortSignal, Duplex, pipeline } from "node:stream";
import { rootCertificates } from "node:tls";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import type { buildConnector, Dispatcher } from "undici";
import { shorten } from "../answer/budget.ts";
import { errorCode, ToolError } from "../answer/errors.ts";
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
   * An HTTP proxy. Names are checked here before a request and resolved again by the proxy, which must enforce its own
   * rules; a name that only the proxy can resolve is left to it.
   */
  readonly proxy?: URL | undefined;
  /** Creates a cookie jar for a download whose redirects set cookies; without it, cookies are dropped. */
  readonly cookieJar?: () => Promise<HttpCookieJar>;
}

/** The cookies of one download, sent only to the URLs that they are valid for. */
interface HttpCookieJar {
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

interface HttpGet {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** A lower limit than the client's, for example for robots.txt. */
  readonly bytes?: number;
}

/** One encoding is normal, two occur; more are an attack, since each can multiply its input a thousandfold. */
const MAX_ENCODINGS = 2;
const MAX_HEADER_BYTES = 32_768;
const MAX_CONNECTIONS = 8;

/** Loaded with the first request, since a server starts faster without; a bundle has only the default export. */
const undici = async () => (await import("undici")).default;

/**
 * Downloads from the web through a `UrlGuard`: it connects only to addresses that were checked, and checks every
 * redirect.
 */
export class HttpClient {
  readonly #options: HttpClientOptions;
  #dispatcher: Promise<Dispatcher> | undefined;

  constructor(options: HttpClientOptions) {
    this.#options = options;
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
    const slowText = `did not finish within ${budgets.totalMs / 1000} s.`;
    const hint = "Try again later, or ask the user to raise --timeout.";
    const timeout = () => new ToolError("timeout", `${shortUrl(next)} ${slowText}`, { hint });
    const deadline = startDeadline(budgets.totalMs, signal, timeout);
    try {
      for (;;) {
        await this.#checkBeforeProxy(next, deadline.signal);
        const cookie = jar?.get(next) ?? "";
        const sent = cookie === "" ? headers : { ...headers, cookie };
        const response = await this.#requestWithRetry(next, sent, deadline.signal);
        const target = redirectOf(response, next);
        if (target === undefined) {
          const max = Math.min(bytes ?? budgets.bytes, budgets.bytes);
          const { body, isCut } = await bodyOf(response, max, deadline.signal);
          const plain = plainHeaders(response);
          return { url: next, redirects, status: response.statusCode, headers: plain, body, isCut };
        }
        response.body.destroy();
        const cookies = valuesOf(response, "set-cookie");
        if (cookies.length > 0) jar ??= await this.#options.cookieJar?.();
        for (const setCookie of cookies) jar?.set(next, setCookie);
        redirects.push(next);
        const redirectsText = `${shortUrl(url)} redirects more than ${budgets.redirects} times.`;
        const last = `The last address was ${shortUrl(next)}.`;
        if (redirects.length > budgets.redirects)
          throw new ToolError("unavailable", redirectsText, { hint: last });
        next = guard.check(target);
      }
    } catch (error) {
      deadline.signal.throwIfAborted();
      throw explainError(error, next);
    } finally {
      deadline.end();
    }
  }

  close(): void {
    void this.#dispatcher?.then((dispatcher) => dispatcher.destroy());
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
  async #requestWithRetry(
    url: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    try {
      return await this.#request(url, headers, signal);
    } catch (error) {
      if (!CONNECTION_CLOSED_CODES.has(errorCode(error) ?? "") || signal.aborted) throw error;
      return await this.#request(url, headers, signal);
    }
  }

  async #request(
    url: URL,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { budgets, headersFor } = this.#options;
    const { request } = await undici();
    const slow = `${shortUrl(url)} sent no headers within ${budgets.headersMs / 1000} s.`;
    const timeout = () => new ToolError("timeout", slow);
    this.#dispatcher ??= this.#createDispatcher();
    const deadline = startDeadline(budgets.headersMs, signal, timeout);
    try {
      const response = await request(url, {
        dispatcher: await this.#dispatcher,
        headers: { "accept-encoding": "gzip, br, deflate", ...headers, ...headersFor?.(url) },
        signal: deadline.signal,
      });
      // A body that is not read to its end ends with an error.
      response.body.on("error", () => undefined);
      return response;
    } finally {
      deadline.end();
    }
  }

  async #createDispatcher(): Promise<Dispatcher> {
    const { Agent, buildConnector, ProxyAgent } = await undici();
    const { guard, ca, proxy } = this.#options;
    const limits = { connections: MAX_CONNECTIONS, maxHeaderSize: MAX_HEADER_BYTES };
    // Probes of idle connections: a download has its own time limit, and Wine cannot set them before it connects.
    const keepAlive = false;
    const tls = ca === undefined ? { keepAlive } : { keepAlive, ca: [...rootCertificates, ...ca] };
    if (proxy !== undefined)
      return new ProxyAgent({ ...limits, uri: proxy.href, proxyTunnel: false, requestTls: tls });
    const connect: buildConnector.connector = (place, done) => {
      buildConnector({ ...tls, lookup: guardedLookup(guard, portOf(place)) })(place, done);
    };
    return new Agent({ ...limits, connect });
  }
}

/** Resolves a name to addresses that the guard has checked, so that no connection can go to another (DNS rebinding). */
function guardedLookup(guard: UrlGuard, port: number): LookupFunction {
  return (host, { all }, done) => {
    guard.place(host, port).then(
      ({ addresses: [first, ...rest] }) => {
        // Node.js requests a single address with --no-network-family-autoselection.
        if (first === undefined || all === true) done(null, first ? [first, ...rest] : []);
        else done(null, first.address, first.family);
      },
      (error: Error) => done(error, []),
    );
  };
}

const valuesOf = ({ headers }: Dispatcher.ResponseData, name: string): string[] =>
  [headers[name] ?? []].flat();

function redirectOf(response: Dispatcher.ResponseData, from: URL): URL | string | undefined {
  const [location] = valuesOf(response, "location");
  if (![301, 302, 303, 307, 308].includes(response.statusCode) || location === undefined)
    return undefined;
  return URL.canParse(location, from.href) ? new URL(location, from) : location;
}

/** The decoded body, cut at `max` bytes, so a decompression bomb never gets larger than that. */
async function bodyOf(
  response: Dispatcher.ResponseData,
  max: number,
  signal: AbortSignal,
): Promise<{ body: Buffer; isCut: boolean }> {
  try {
    const decoders = decodersOf(valuesOf(response, "content-encoding").join(","));
    const stream = decoders.at(-1) ?? response.body;
    if (decoders.length > 0) pipeline([response.body, ...decoders], () => undefined);
    addAbortSignal(signal, stream);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > max) break;
    }
    return { body: Buffer.concat(chunks).subarray(0, max), isCut: bytes > max };
  } finally {
    response.body.destroy();
  }
}

/**
 * Decoders for a Content-Encoding, the last encoding first.
 *
 * @throws ToolError `too_large` for too many encodings, `unavailable` for an unknown one
 */
function decodersOf(header: string): Duplex[] {
  const encodings = header
    .split(",")
    .map((encoding) => encoding.trim().toLowerCase())
    .filter((encoding) => encoding !== "" && encoding !== "identity");
  const many = `The response is encoded ${encodings.length} times; at most ${MAX_ENCODINGS} encodings are supported.`;
  if (encodings.length > MAX_ENCODINGS) throw new ToolError("too_large", many);
  return encodings.reverse().map((encoding) => {
    const name = oneLine(encoding.slice(0, 40));
    const unsupportedText = `The response uses the encoding "${name}", which is not supported.`;
    const create = DECODERS.get(encoding);
    if (create === undefined) throw new ToolError("unavailable", unsupportedText);
    return create();
  });
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
    const allChunks = async function* (): AsyncGenerator<Buffer> {
      yield first.value;
      yield* { [Symbol.asyncIterator]: () => chunks };
    };
    // The lower half of zlib's first byte is its method, 8 (RFC 1950, 2.2).
    const inflate = ((first.value[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
    yield* pipeline(allChunks, inflate, () => undefined);
  });
}

/** Of a header that is sent several times, the first counts. */
const plainHeaders = (response: Dispatcher.ResponseData): Record<string, string> =>
  Object.fromEntries(
    Object.keys(response.headers).map((name) => [name, valuesOf(response, name)[0] ?? ""]),
  );

/** The errors of a connection that the other side has closed. */
const CONNECTION_CLOSED_CODES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the server closed the connection",
  EPIPE: "the server closed the connection",
  UND_ERR_SOCKET: "the server closed the connection",
  ETIMEDOUT: "the connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  UND_ERR_HEADERS_OVERFLOW: "its headers are larger than 32 KiB",
  Z_DATA_ERROR: "its compressed body is damaged",
  Z_BUF_ERROR: "its compressed body is incomplete",
};

function explainError(error: unknown, url: URL): unknown {
  if (error instanceof ToolError || !(error instanceof Error)) return error;
  const code = errorCode(error) ?? "";
  const why =
    MEANINGS[code] ??
    (error.name === "HTTPParserError"
      ? `its HTTP response is invalid (${code === "" ? oneLine(error.message) : code})`
      : /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)
        ? `its certificate is not trusted (${code})`
        : `the download failed (${code === "" ? oneLine(error.message.slice(0, 100)) : code})`);
  return new ToolError("unavailable", `${shortUrl(url)} could not be read: ${why}.`, {
    hint: "Check the URL; if it is correct, try again later.",
    cause: error,
  });
}

function shortUrl(url: string | URL): string {
  return oneLine(shorten(String(url), 201));
}
