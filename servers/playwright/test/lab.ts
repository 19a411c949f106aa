import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server on loopback for one test. */
export type Site = Awaited<ReturnType<typeof serve>>;

/**
 * Serves pages (HTML by path) or a handler's responses.
 *
 * @param host the loopback address to listen on: `127.0.0.1`, `127.0.0.2`, …
 * @param port one that is known to be free; 0 for any
 */
export async function serve(
  pages: Readonly<Record<string, string | Handler>>,
  host = "127.0.0.1",
  port = 0,
) {
  const hits: string[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    hits.push(request.url ?? "");
    const page = pages[path] ?? pages["*"];
    if (page === undefined)
      response.writeHead(404, { "content-type": "text/plain" }).end("not here");
    else if (typeof page === "function") page(request, response);
    else response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
  });
  server.on("connection", () => {
    connections += 1;
  });
  await once(server.listen(port, host), "listening");
  const own: number = Object(server.address()).port;
  return {
    url: `http://${host}:${own}`,
    port: own,
    /** The number of TCP connections, of any kind. */
    connections: () => connections,
    /** Requested paths. */
    hits,
    async close() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}

/** A guard that allows everything, like a browser without a policy. */
export const openGuard = {
  async connect(host: string, port: number) {
    const socket = connect({ host, port });
    await once(socket, "connect");
    return socket;
  },
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
