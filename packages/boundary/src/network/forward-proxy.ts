import { once } from "node:events";
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { reasonOf, ToolError } from "../answer/errors.ts";
import { portOf, type UrlGuard } from "./url-guard.ts";

/** Decides what a page may reach, and opens the connections. */
export interface NetworkGuard {
  /**
   * Connects to `host` (a name or an IP address without brackets).
   *
   * @throws Error if it is refused or the host does not respond.
   */
  connect(host: string, port: number): Promise<Socket>;
  /** Whether an error of `connect` was a refusal by the policy. */
  isRefusal(error: unknown): boolean;
  /**
   * Checks a URL before a page is sent there.
   *
   * @throws ToolError `denied` if the policy refuses it.
   */
  check(url: URL): Promise<void>;
}

export function networkGuardOf(guard: UrlGuard): NetworkGuard {
  return {
    connect: (host, port) => guard.connect(host, port),
    isRefusal: (error) => error instanceof ToolError && error.kind === "denied",
    async check(url) {
      // Credentials in a URL are the page's business; the guard checks the destination.
      const place = new URL(url);
      place.username = "";
      place.password = "";
      guard.check(place);
      await guard.place(place.hostname, portOf(place));
    },
  };
}

export interface ProxyFailure {
  /** `host:port`. */
  readonly authority: string;
  readonly isRefused: boolean;
  readonly reason: string;
}

/** How many failures are kept, the last ones; a page can cause any number. */
const MAX_FAILURES = 200;
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
]);

/**
 * A forward proxy in this process, for a browser context. All of the page's traffic passes through it, and every
 * connection is opened by the guard, which resolves the name once, checks every address and connects to what it
 * checked. It listens on loopback, on a free port.
 */
export class ForwardProxy {
  readonly #server: Server;
  /** Opens the connections; replaced when a run takes a spare context. */
  guard: NetworkGuard;
  readonly #agent: Agent;
  readonly #sockets = new Set<Duplex>();
  readonly failures: ProxyFailure[] = [];

  private constructor(server: Server, guard: NetworkGuard) {
    this.#server = server;
    this.guard = guard;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 32 });
    this.#agent.createConnection = (options, done) => {
      this.#connect(String(options.host), Number(options.port)).then(
        (socket) => done?.(null, socket),
        (error: Error) => done?.(error, new Socket()),
      );
      return undefined;
    };
    server.on("request", (request, answer) => this.#forward(request, answer));
    server.on("connect", (request, socket, head) => void this.#tunnel(request, socket, head));
    server.on("upgrade", (_incoming, socket) => socket.destroy());
    server.on("clientError", (_error, socket) => socket.destroy());
    server.on("connection", (socket) => this.#keep(socket));
  }

  static async listen(guard: NetworkGuard): Promise<ForwardProxy> {
    const server = createServer({ maxHeaderSize: 65_536, requestTimeout: 0 });
    const proxy = new ForwardProxy(server, guard);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  failureAt(authority: string): ProxyFailure | undefined {
    return this.failures.findLast((failure) => failure.authority === authority);
  }

  /** Ends every connection at once. */
  async close(): Promise<void> {
    this.#agent.destroy();
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    const whenClosed = once(this.#server, "close");
    this.#server.close();
    await whenClosed;
  }

  async #connect(host: string, port: number): Promise<Socket> {
    try {
      const socket = await this.guard.connect(host, port);
      this.#keep(socket);
      // For any name that was used.
      if (
        socket.remotePort === this.port &&
        /^(?:::ffff:)?127\.0\.0\.1$/.test(socket.remoteAddress ?? "")
      ) {
        socket.destroy();
        throw new Error("it is this server's proxy");
      }
      return socket;
    } catch (error) {
      const [authority, isRefused] = [`${host}:${port}`, this.guard.isRefusal(error)];
      this.failures.push({ authority, isRefused, reason: reasonOf(error) });
      if (this.failures.length > MAX_FAILURES) this.failures.shift();
      throw error;
    }
  }

  #keep(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }

  /** A plain http request in absolute form (RFC 9112, 3.2.2). */
  #forward(request: IncomingMessage, response: ServerResponse): void {
    const url = URL.canParse(request.url ?? "") ? new URL(request.url ?? "") : undefined;
    if (url === undefined || url.protocol !== "http:") {
      response.destroy();
      return;
    }
    const upstream = httpRequest({
      agent: this.#agent,
      host: url.hostname,
      port: url.port === "" ? 80 : Number(url.port),
      method: request.method,
      path: url.pathname + url.search,
      headers: endToEndHeaders(request.rawHeaders),
      setHost: false,
      insecureHTTPParser: false,
      maxHeaderSize: 262_144,
    });
    upstream.on("response", (reply) => {
      response.writeHead(
        reply.statusCode ?? 502,
        reply.statusMessage,
        endToEndHeaders(reply.rawHeaders),
      );
      reply.pipe(response);
      reply.on("error", () => response.destroy());
    });
    // As without a proxy, the page sees a closed connection.
    upstream.on("error", () => response.destroy());
    response.on("close", () => upstream.destroy());
    request.on("error", () => upstream.destroy());
    request.pipe(upstream);
  }

  /** A tunnel for https and WebSockets (RFC 9110, 9.3.6). */
  async #tunnel(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const url = URL.canParse(`http://${request.url}`)
      ? new URL(`http://${request.url}`)
      : undefined;
    const port = /:(\d{1,5})$/.exec(request.url ?? "")?.[1];
    try {
      if (url === undefined || port === undefined) throw new Error("no host and port");
      const target = await this.#connect(url.hostname, Number(port));
      socket.on("close", () => target.destroy());
      target.on("close", () => socket.destroy());
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      if (head.length > 0) target.write(head);
      target.pipe(socket);
      socket.pipe(target);
    } catch {
      socket.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    }
  }
}

/** Raw headers (alternating names and values) without the hop-by-hop ones. */
function endToEndHeaders(raw: readonly string[]): string[] {
  const headers: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? "";
    if (!HOP_BY_HOP.has(name.toLowerCase())) headers.push(name, raw[i + 1] ?? "");
  }
  return headers;
}
