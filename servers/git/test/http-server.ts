import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface GitServer {
  /** `http://127.0.0.1:<port>`; the repositories of the root are below it. */
  readonly url: string;
  readonly port: number;
  /** Method and path of every request so far. */
  readonly requests: readonly string[];
  /** Resolves when it has stalled, if the options say so. */
  readonly stalled: Promise<void>;
  close(): Promise<void>;
}

export interface GitServerOptions {
  /** Requires this `user:password`. */
  readonly login?: string;
  /** Sends every request to this base URL. */
  readonly redirect?: string;
  /** Stops sending after this many bytes of an answer and leaves the connection open. */
  readonly stallAfter?: number;
  /** Never answers requests whose path has this end. */
  readonly stallOn?: string;
}

/** A real git server on loopback: `git http-backend` behind Node's http. */
export async function serveGit(root: string, options: GitServerOptions = {}): Promise<GitServer> {
  const requests: string[] = [];
  let stall = () => {};
  const stalled = new Promise<void>((resolve) => {
    stall = resolve;
  });
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ""} ${request.url ?? ""}`);
    const expected = options.login && `Basic ${Buffer.from(options.login).toString("base64")}`;
    if (options.redirect !== undefined) {
      response.writeHead(301, { location: options.redirect + (request.url ?? "") }).end();
    } else if (expected !== undefined && request.headers.authorization !== expected) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
    } else if (options.stallOn !== undefined && request.url?.endsWith(options.stallOn)) {
      request.resume();
      stall();
    } else {
      backend(root, request, response, options.stallAfter ?? Number.POSITIVE_INFINITY, stall);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    stalled,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function backend(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
  stallAfter: number,
  stall: () => void,
): void {
  const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
  const header = (name: string) => String(request.headers[name] ?? "");
  const child = spawn("git", ["http-backend"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: header("content-type"),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      GIT_PROTOCOL: header("git-protocol"),
      // A logged-in user may push.
      REMOTE_USER: "tester",
      REMOTE_ADDR: "127.0.0.1",
    },
  });
  child.stdin.on("error", () => undefined);
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  let sent = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    let body = chunk;
    if (!response.headersSent) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end === -1) return;
      for (const line of head.toString("latin1", 0, end).split("\r\n")) {
        const [name = "", value = ""] = line.split(": ");
        if (name === "Status") response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.flushHeaders();
      body = head.subarray(end + 4);
    }
    if (sent > stallAfter) return;
    sent += body.length;
    response.write(body);
    if (sent > stallAfter) stall();
  });
  child.on("close", () => {
    if (sent <= stallAfter) response.end();
  });
  response.on("close", () => child.kill());
}
