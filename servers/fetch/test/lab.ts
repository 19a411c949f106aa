import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server as NetServer,
  type Socket,
} from "node:net";
import { ToolError } from "@refmcp/boundary/answer";
import type { Call } from "@refmcp/core";
import { fakeCall } from "@refmcp/testing";
import { onTestFinished } from "vitest";
import type { WebOptions } from "../src/page/download/client.ts";
import { Web } from "../src/page/download/web.ts";
import { tools } from "../src/tools/index.ts";

/**
 * The local address that represents a public host in tests, through the allow list: Linux accepts all of 127.0.0.0/8;
 * elsewhere it is the usual one.
 */
export const HOST = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";

/** The response of a path of a test site: a body, or a listener. */
export type Answer =
  | string
  | Buffer
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
    }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface Site {
  /** Without a slash at its end. */
  readonly origin: string;
  /** host:port, for --allow-host. */
  readonly host: string;
  /** The requested paths, in order, except robots.txt. */
  readonly asked: string[];
  readonly requests: { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
  /** Paths and their responses; may change later. */
  readonly pages: Record<string, Answer>;
  close(): Promise<void>;
}

interface SiteOptions {
  readonly address?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A web site on loopback, until the test ends. It has no robots.txt unless `pages` contains one. */
export async function site(
  pages: Record<string, Answer>,
  options: SiteOptions = {},
): Promise<Site> {
  const opened = await openSite(pages, options);
  onTestFinished(() => opened.close());
  return opened;
}

const usedPorts = new Set<number>();

/** The same, closed by hand. */
export async function openSite(
  pages: Record<string, Answer>,
  { address = HOST, tls }: SiteOptions = {},
): Promise<Site> {
  const asked: string[] = [];
  const requests: Site["requests"] = [];
  const listener: RequestListener = (request, response) => {
    const path = request.url ?? "/";
    requests.push({ path, headers: request.headers });
    if (path !== "/robots.txt") asked.push(path);
    reply(pages[path], request, response);
  };
  const server: Server =
    tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  let port = await listening(server, address);
  // The shared `Web` would return the pages of an earlier site at the same port.
  while (usedPorts.has(port)) {
    await new Promise((resolve) => server.close(resolve));
    port = await listening(server, address);
  }
  usedPorts.add(port);
  return {
    origin: `${tls === undefined ? "http" : "https"}://${address}:${port}`,
    host: `${address}:${port}`,
    asked,
    requests,
    pages,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function reply(
  answer: Answer | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (typeof answer === "function") {
    answer(request, response);
    return;
  }
  if (answer === undefined) {
    response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
    return;
  }
  const plain = typeof answer === "string" || Buffer.isBuffer(answer) ? { body: answer } : answer;
  const { status = 200, headers = {}, body = "" } = plain;
  response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers }).end(body);
}

/** A server that returns raw bytes, valid HTTP or not, until the test ends. */
export async function rawSite(
  serve: (socket: Socket, request: string) => void,
): Promise<Pick<Site, "origin" | "host">> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.once("data", (data) => {
      const request = data.toString("latin1");
      if (request.startsWith("GET /robots.txt "))
        socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      else serve(socket, request);
    });
  });
  const port = await listening(server, HOST);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { origin: `http://${HOST}:${port}`, host: `${HOST}:${port}` };
}

async function listening(server: NetServer, address: string): Promise<number> {
  server.listen(0, address);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const DEFAULTS: WebOptions = {
  allowHost: [],
  denyHost: [],
  allowPrivate: false,
  ignoreRobotsTxt: false,
  userAgent: undefined,
  header: [],
  proxyUrl: undefined,
  caFile: undefined,
  maxBytes: 10_000_000,
  timeout: 30,
};

/** The `Web` of a server with these options, until the test ends. */
export async function web(options: Partial<WebOptions> = {}): Promise<Web> {
  const opened = await Web.open({ ...DEFAULTS, ...options }, () => undefined);
  onTestFinished(() => opened.close());
  return opened;
}

/** A new `Web` of a server that may access these sites. */
export const newWebOf = (
  sites: readonly Pick<Site, "host">[],
  options: Partial<WebOptions> = {},
): Promise<Web> => web({ allowHost: sites.map(({ host }) => host), ...options });

let shared: Promise<Web> | undefined;

/**
 * The `Web` of a server that may access these sites. Without options it is the same for all tests of this process,
 * because starting its threads takes longer than reading a page.
 */
export function webOf(
  sites: readonly Pick<Site, "host">[],
  options: Partial<WebOptions> = {},
): Promise<Web> {
  const isShared = process.platform === "linux" && Object.keys(options).length === 0;
  if (!isShared || sites.some(({ host }) => !host.startsWith(`${HOST}:`)))
    return newWebOf(sites, options);
  shared ??= Web.open({ ...DEFAULTS, allowHost: [HOST] }, () => undefined);
  return shared;
}

/** Runs a tool as the server would, its arguments checked and defaulted. */
export async function run(
  opened: Web,
  name: string,
  args: Record<string, unknown>,
  call: Call = fakeCall(),
): Promise<unknown> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const work: (input: never, web: Web, call: Call) => unknown = tool.run;
  return await work(tool.input.parse(args) as never, opened, call);
}

/** The page's block and the foot of a text answer. */
export async function fetched(
  opened: Web,
  args: Record<string, unknown>,
  call: Call = fakeCall(),
): Promise<{ text: string; foot: string }> {
  const [text = "", foot = ""] = texts(await run(opened, "fetch", args, call));
  return { text, foot };
}

/** The Markdown of a page, by its HTML; `url` is what follows the page's address. */
export async function readMarkdown(
  html: string | Buffer,
  args: Record<string, unknown> = {},
): Promise<string> {
  const lab = await site({ "/dir/page": html });
  const { url = "", ...others } = args;
  const asked = { url: `${lab.origin}/dir/page${url}`, max_length: 100_000, ...others };
  const { text } = await fetched(await webOf([lab]), asked);
  return text.replaceAll(lab.origin, "https://mill.example");
}

/** The texts of an answer's blocks. */
export function texts(answer: unknown): string[] {
  if (!Array.isArray(answer)) return [];
  return answer.map((block: { text?: unknown }) =>
    typeof block.text === "string" ? block.text : "",
  );
}

/** The error that a call throws. */
export async function failureOf(work: Promise<unknown>): Promise<ToolError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason) => reason,
  );
  if (error instanceof ToolError) return error;
  throw error ?? new Error("the call did not fail");
}
