import { CAPABILITIES, CLIENT_INFO, metaOf } from "./client.ts";
import { type Fields, MODERN, type Revision } from "./revisions.ts";

/** Determines the content of a cell, at the endpoint of a server. */
type Look = (url: URL, revision: Revision) => Promise<string>;

const yes = (is: boolean): string => (is ? "yes" : "no");

function post(url: URL, message: Fields, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(message),
  });
}

/** Opens a connection in a revision; returns the headers for further requests, and those of the answer. */
async function open(
  url: URL,
  revision: Revision,
): Promise<{ headers: Record<string, string>; answer: Response }> {
  const version = { "mcp-protocol-version": revision };
  if (revision === MODERN) {
    const params = { _meta: metaOf(CAPABILITIES[revision]) };
    const message = { jsonrpc: "2.0", id: 1, method: "server/discover", params };
    const answer = await post(url, message, { ...version, "mcp-method": "server/discover" });
    await answer.text();
    return { headers: version, answer };
  }
  const params = {
    protocolVersion: revision,
    capabilities: CAPABILITIES[revision],
    clientInfo: CLIENT_INFO,
  };
  const answer = await post(url, { jsonrpc: "2.0", id: 1, method: "initialize", params });
  await answer.text();
  const session = answer.headers.get("mcp-session-id");
  const headers = { ...version, ...(session === null ? {} : { "mcp-session-id": session }) };
  await (await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, headers)).text();
  return { headers, answer };
}

/** A call that reports progress before its answer, so that the response is an event stream. */
async function stream(url: URL, revision: Revision): Promise<Response> {
  const { headers } = await open(url, revision);
  const claims = revision === MODERN ? metaOf(CAPABILITIES[revision]) : {};
  const params = {
    name: "probe_slow",
    arguments: { ms: 1 },
    _meta: { ...claims, progressToken: "p" },
  };
  const modern: Record<string, string> =
    revision === MODERN ? { "mcp-method": "tools/call", "mcp-name": "probe_slow" } : {};
  return post(
    url,
    { jsonrpc: "2.0", id: 2, method: "tools/call", params },
    { ...headers, ...modern },
  );
}

/** The rows of docs/protocol.md that are checked over HTTP. */
export const HTTP_ROWS: Readonly<Record<string, Look>> = {
  "Streamable HTTP": async (url, revision) =>
    yes((await open(url, revision)).answer.status === 200),
  sessions: async (url, revision) =>
    yes((await open(url, revision)).answer.headers.has("mcp-session-id")),
  "a stream from the server (`GET`)": async (url, revision) => {
    const { headers } = await open(url, revision);
    const answer = await fetch(url, { headers: { ...headers, accept: "text/event-stream" } });
    await answer.body?.cancel();
    return answer.status === 200 ? "yes" : `no, ${answer.status}`;
  },
  "responses as a stream": async (url, revision) => {
    const answer = await stream(url, revision);
    const text = await answer.text();
    return yes(
      answer.headers.get("content-type") === "text/event-stream" && /"progress":1/.test(text),
    );
  },
  "ending a session (`DELETE`)": async (url, revision) => {
    const { headers } = await open(url, revision);
    const answer = await fetch(url, { method: "DELETE", headers });
    await answer.text();
    return answer.ok ? "yes" : `no, ${answer.status}`;
  },
};
