// The hostile callers of the soak, in a separate thread, so that their work does not delay the honest ones' clocks. Each
// has a valid token, and does one thing for as long as the soak runs.
import { Agent, request } from "node:http";
import { createConnection } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

/** @typedef {{ port: number, hanging: string, big: string, tokens: Record<string, string[]>, forged: string }} Target */
const { port, hanging, big, tokens, forged } = /** @type {Target} */ (workerData);
const MIB = 1_048_576;
const MODERN = "2026-07-28";

/** What each caller got, by status, or by the error's code or "cut" if the connection ended without one. @type {Record<string, Record<string, number>>} */
const outcomes = {};

/** @param {string} name @param {number | string | undefined} what */
function count(name, what) {
  const own = outcomes[name] ?? {};
  outcomes[name] = own;
  own[`${what}`] = (own[`${what}`] ?? 0) + 1;
}

/** Tokens of one person from three clients, in turn. @param {string} name */
function tokenOf(name) {
  const own = tokens[name] ?? [];
  own.push(own.shift() ?? "");
  return own[0] ?? "";
}

/**
 * Sends a request; calls `opened` with a response whose body is left to the caller.
 *
 * @param {string} name
 * @param {{ method?: string, headers?: Record<string, string>, agent?: Agent | false }} options
 * @param {string | Buffer} body
 * @param {(incoming: import("node:http").IncomingMessage) => void} opened
 */
function send(name, { method = "POST", headers = {}, agent = false }, body, opened) {
  const outgoing = request({
    host: "127.0.0.1",
    port,
    path: "/mcp",
    method,
    agent,
    headers: {
      authorization: tokenOf(name),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
  });
  outgoing.on("error", (error) => count(name, /** @type {NodeJS.ErrnoException} */ (error).code));
  outgoing.on("response", (incoming) => {
    incoming.on("error", () => undefined);
    count(name, incoming.statusCode);
    opened(incoming);
  });
  outgoing.end(body);
  return outgoing;
}

/** @param {string} method @param {object} params @param {object} [more] of `_meta` */
function modern(method, params, more = {}) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": { name: "hostile", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
    ...more,
  };
  const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
  const named = "name" in params ? { "mcp-name": String(params.name) } : {};
  return { message, headers: { "mcp-protocol-version": MODERN, "mcp-method": method, ...named } };
}

/** A raw connection that ignores errors. @param {string} name */
function raw(name) {
  const socket = createConnection(port, "127.0.0.1");
  socket.on("error", () => undefined);
  let isAnswered = false;
  socket.on("data", (chunk) => {
    if (!isAnswered) count(name, /^HTTP\/1\.1 (\d+)/.exec(chunk.toString("latin1"))?.[1] ?? "data");
    isAnswered = true;
  });
  socket.on("close", () => isAnswered || count(name, "cut"));
  return socket;
}

/** @param {string} name @param {Record<string, string | number>} headers */
function head(name, headers, body = "", line = "POST /mcp HTTP/1.1") {
  const all = {
    host: `127.0.0.1:${port}`,
    authorization: tokenOf(name),
    "content-type": "application/json",
    ...headers,
  };
  return `${line}\r\n${Object.entries(all)
    .map(([key, value]) => `${key}: ${value}\r\n`)
    .join("")}\r\n${body}`;
}

/** @param {{ destroy(): unknown }[]} held @param {number} max */
function trim(held, max) {
  while (held.length > max) held.shift()?.destroy();
}

/** Fetches that hang until their time limit: more than one caller may have. */
let fetching = 0;
function hang() {
  for (; fetching < 1_200; fetching += 1) {
    const { message, headers } = modern("tools/call", {
      name: "fetch",
      arguments: { url: `${hanging}/${Math.random()}` },
    });
    const outgoing = send("hanging fetches", { headers }, message, (incoming) => incoming.resume());
    outgoing.on("close", () => setTimeout(() => (fetching -= 1), 1_000));
  }
}

/** Sessions with an open stream each; some are abandoned, and some callers leave. @type {{ destroy(): unknown }[]} */
const sessions = [];
function openSessions() {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "hostile", version: "1" },
  };
  const open = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  for (let index = 0; index < 20; index += 1)
    send("sessions", {}, open, (incoming) => {
      incoming.resume();
      const id = incoming.headers["mcp-session-id"];
      if (typeof id !== "string") return;
      const headers = { "mcp-session-id": id, accept: "text/event-stream" };
      sessions.push(send("sessions", { method: "GET", headers }, "", (stream) => stream.resume()));
    });
  if (Math.random() < 0.1) trim(sessions, 300);
  trim(sessions, 700);
}

/** Subscriptions in padded messages. @type {{ destroy(): unknown }[]} */
const subscriptions = [];
const padded = modern(
  "subscriptions/listen",
  { notifications: { resourcesListChanged: true } },
  { "example.com/pad": "x".repeat(4 * MIB) },
);
function subscribe() {
  for (let index = 0; index < 2; index += 1)
    subscriptions.push(
      send("padded subscriptions", { headers: padded.headers }, padded.message, (stream) =>
        stream.resume(),
      ),
    );
  trim(subscriptions, 150);
}

/** Bodies that never end, over HTTP and WebSocket. @type {{ destroy(): unknown }[]} */
const unfinished = [];
const part = Buffer.alloc(15 * MIB, "x");
function startBodies() {
  const socket = raw("unfinished bodies");
  socket.write(head("unfinished bodies", { "content-length": 16 * MIB - 1 }));
  socket.write(part);
  const framed = raw("unfinished messages");
  const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": 13 };
  const key = {
    "sec-websocket-key": Buffer.alloc(16).toString("base64"),
    "sec-websocket-protocol": "mcp",
  };
  framed.write(head("unfinished messages", { ...upgrade, ...key }, "", "GET /mcp HTTP/1.1"));
  // The first fragment of a text message, masked with zeros.
  const first = Buffer.alloc(14);
  first.writeUInt8(0x01, 0);
  first.writeUInt8(0xff, 1);
  first.writeBigUInt64BE(BigInt(part.length), 2);
  framed.once("data", () => {
    framed.write(first);
    framed.write(part);
  });
  unfinished.push(socket, framed);
  trim(unfinished, 24);
}

/** Bytes that are not a request, and requests that are not messages. */
const deep = "[".repeat(200_000);
const GARBAGE = [
  () => Buffer.from(Array.from({ length: 2_000 }, () => Math.floor(Math.random() * 256))),
  () => head("garbage", { "content-length": deep.length }, deep),
  () => head("garbage", { "content-length": 5, "x-long": "y".repeat(30_000) }),
  () => head("garbage", { "content-length": 3 }, '{"a'),
  () => head("garbage", { "content-length": 2, "content-encoding": "gzip" }, "{}"),
  () => head("garbage", { "content-length": 2, host: "evil.example" }, "{}"),
  () => head("garbage", { "content-length": 2, authorization: forged }, "{}"),
  () => head("garbage", { "transfer-encoding": "chunked" }, "ffffffffffffffff\r\n"),
  () => "POST /mcp HTTP/1.1\r\nhost: ",
];
/** @type {{ destroy(): unknown }[]} */
const thrown = [];
function throwGarbage() {
  for (const make of GARBAGE) {
    const socket = raw("garbage");
    socket.write(make());
    thrown.push(socket);
  }
  trim(thrown, 200);
}

/** More requests than the rate allows, from three clients of one person. */
const flooding = new Agent({ keepAlive: true, maxSockets: 32 });
function flood() {
  const { message, headers } = modern("tools/list", {});
  for (let index = 0; index < 180; index += 1)
    send("flood", { headers, agent: flooding }, message, (incoming) => incoming.resume());
}

/** Callers that read nothing of long answers, and large downloads that displace all others. @type {{ destroy(): unknown }[]} */
const silent = [];
function readNothing() {
  const { message, headers } = modern("tools/call", {
    name: "fetch",
    arguments: { url: `${big}?${Math.random()}`, max_length: 999_999, format: "text" },
  });
  const reading = send("slow readers", { headers }, message, (incoming) => incoming.pause());
  silent.push(reading);
  trim(silent, 60);
}

/** @type {Record<string, [work: () => void, everyMs: number]>} */
const works = {
  "hanging fetches": [hang, 500],
  sessions: [openSessions, 1_000],
  "padded subscriptions": [subscribe, 1_000],
  "unfinished bodies": [startBodies, 3_000],
  garbage: [throwGarbage, 1_000],
  flood: [flood, 1_000],
  "slow readers": [readNothing, 2_000],
};
const timers = Object.entries(works)
  .filter(([name]) => name in tokens)
  .map(([, [work, everyMs]]) => setInterval(work, everyMs));

parentPort?.on("message", () => {
  for (const timer of timers) clearInterval(timer);
  for (const held of [sessions, subscriptions, unfinished, thrown, silent]) trim(held, 0);
  parentPort?.postMessage(outcomes);
});
