import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on loopback for one test. */
export interface Site {
  readonly url: string;
  readonly port: number;
  /** The number of TCP connections, of any kind. */
  connections(): number;
  /** Requested paths. */
  readonly hits: readonly string[];
  close(): Promise<void>;
}

/**
 * Serves pages (HTML by path) or a handler's responses.
 *
 * @param host the loopback address to listen on: `127.0.0.1`, `127.0.0.2`, …
 * @param port one that is known to be free; 0 for any
 */
export async function serve(
  pages: Readonly<Record<string, string | Handler>>,
  host = "127.0.0.1",
  server: Server = createServer(),
  port = 0,
): Promise<Site> {
  const hits: string[] = [];
  let connections = 0;
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    connections += 1;
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    hits.push(request.url ?? "");
    const page = pages[path] ?? pages["*"];
    if (page === undefined)
      response.writeHead(404, { "content-type": "text/plain" }).end("not here");
    else if (typeof page === "function") page(request, response);
    else {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
    }
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    connections: () => connections,
    hits,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A guard that allows everything, like a browser without a policy. */
export const openGuard = {
  connect: (host: string, port: number) =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect({ host, port });
      socket.once("connect", () => resolve(socket));
      socket.once("error", reject);
    }),
  isRefusal: () => false,
  check: () => Promise.resolve(),
};

/** An HTML page. */
export const page = (body: string, head = "") =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Docs</title>${head}</head><body>${body}</body></html>`;

/** A page with a field whose value a button adds to a list, with a console error for each. */
export const SHOP =
  page(`<h1>Lamps</h1><label>Name <input></label><button onclick="add()">Add</button><ul></ul>
   <script>const add = () => { document.querySelector("ul").innerHTML += "<li>" + document.querySelector("input").value + "</li>"; console.error("added " + document.querySelectorAll("li").length) }</script>`);
