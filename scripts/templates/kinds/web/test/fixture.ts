import { createServer, type RequestListener } from "node:http";
import type { World } from "@refmcp/testing";

const TOKEN = "the-token-that-nobody-may-see";
const NOTES = [
  "Ada brings the tea.",
  "Charles talks about engines.",
  "A machine that plays chess.",
  "Tea for everybody.",
  ...Array.from({ length: 3_000 }, (_, index) => `entry ${index + 1} of a long list`),
].map((text, index) => ({ id: `n${index}`, text }));

/** The API on this machine. */
const api: RequestListener = ({ url = "/", headers }, response) => {
  const { pathname, searchParams } = new URL(url, "http://api");
  const [query, after, limit] = ["q", "after", "limit"].map((name) => searchParams.get(name) ?? "");
  if (headers.authorization !== `Bearer ${TOKEN}`) response.writeHead(401).end();
  else if (pathname !== "/v1/notes") response.writeHead(404).end();
  else {
    const found = NOTES.filter(({ text }) =>
      text.toLowerCase().includes(query?.toLowerCase() ?? ""),
    );
    const start = found.findIndex(({ id }) => id === after) + 1;
    response.end(JSON.stringify({ notes: found.slice(start, start + Number(limit)) }));
  }
};

/** A site on loopback. */
export async function startSite(listener: RequestListener) {
  const headers: (string | undefined)[] = [];
  const site = createServer((request, response) => {
    headers.push(request.headers.authorization);
    listener(request, response);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const place = site.address();
  const port = typeof place === "object" ? place?.port : undefined;
  return {
    port,
    /** For --allow-host. */
    host: `127.0.0.1:${port}`,
    /** The Authorization header of each request that came. */
    headers,
    async close() {
      site.closeAllConnections();
      await new Promise((resolve) => site.close(resolve));
    },
  };
}

/** The API, which --allow-host makes reachable. */
export async function world(): Promise<World> {
  const { host, port, close } = await startSite(api);
  return {
    args: ["--base-url", `http://${host}/v1`, "--allow-host", host],
    env: { REFMCP_SAMPLE_TOKEN: TOKEN },
    calls: {
      sample_find: { query: "tea" },
    },
    failures: {
      sample_find: { query: "tea", cursor: "made up" },
    },
    large: {
      sample_find: { query: "entry", limit: 500 },
    },
    secret: TOKEN,
    // There is nothing that a reading tool could change.
    fingerprint: async () => JSON.stringify(NOTES),
    stable: (text) => text.replaceAll(`:${port}`, ":80"),
    dispose: close,
  };
}
