// What a call over Streamable HTTP costs, in a session and stateless, next to a bare loop and to the official server. That
// thousands of requests, sessions and bad clients are served is in core's load.long.test.ts.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { figure, inTurn, median, peers, ratio } from "../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../scripts/lib/setup.mjs";
import { HttpClient, Listening, withServer } from "./lib/http-kit.mjs";

/** @typedef {import("../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {"bare loop" | "official everything" | "ours"} Name */
/** @typedef {Record<Name, (port: number) => Promise<Listening>>} Start */
/** @typedef {(id: number) => [message: object, headers: Record<string, string>]} Call */

export const title = "a call over Streamable HTTP";

const OFFICIAL = { "@modelcontextprotocol/server-everything": "2026.8.31" };

/** A minimal HTTP server as the floor: no dependencies, no checks, one method. */
const LOOP = `
import { createServer } from "node:http";
createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const { id } = JSON.parse(body);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "ok" }] } }));
  });
}).listen(process.env.PORT, "127.0.0.1");
`;

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-"));
  try {
    const loop = join(folder, "loop.mjs");
    await writeFile(loop, LOOP);
    const everything = (await peers(OFFICIAL))(
      "@modelcontextprotocol/server-everything/dist/index.js",
    );
    const filesystem = join(ROOT, "servers", "filesystem", "dist", "bin.js");
    /** @type {Start} */
    const start = {
      "bare loop": (port) => Listening.start([loop], port),
      "official everything": (port) => Listening.start([everything, "streamableHttp"], port),
      ours: (port) => Listening.start([filesystem, folder, "--http", String(port)], port),
    };
    await throughput(report, start);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";
/** @type {Record<Name, [name: string, args: object]>} */
const TOOLS = {
  "bare loop": ["any", {}],
  "official everything": ["echo", { message: "ok" }],
  ours: ["list_allowed_directories", {}],
};

/** Opens a legacy session; its headers. @param {HttpClient} client */
async function openSession(client) {
  const params = {
    protocolVersion: LEGACY,
    capabilities: {},
    clientInfo: { name: "bench", version: "1" },
  };
  const { headers, status } = await client.post({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params,
  });
  const id = headers["mcp-session-id"];
  if (typeof id !== "string") throw new Error(`no session: ${status}`);
  const session = { "mcp-session-id": id, "mcp-protocol-version": LEGACY };
  await client.post({ jsonrpc: "2.0", method: "notifications/initialized" }, session);
  return session;
}

/**
 * A way to call a tool: returns the message and headers of the call with an id.
 *
 * @type {(server: Name, era: "legacy" | "modern", session?: Record<string, string>) => Call}
 */
function caller(server, era, session = {}) {
  const [name, args] = TOOLS[server];
  if (era === "legacy") {
    return (id) => [
      { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } },
      session,
    ];
  }
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headers = { "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name };
  return (id) => [
    { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args, _meta } },
    headers,
  ];
}

/** @param {{ status?: number | undefined, text: string }} answer @param {number} id */
const isAnswer = ({ status, text }, id) =>
  status === 200 && text.includes(`"id":${id}`) && text.includes('"result"');

/** The measured combinations of server and era. @type {Record<string, [Name, "legacy" | "modern"]>} */
const CASES = {
  "bare loop": ["bare loop", "legacy"],
  "official everything, a session": ["official everything", "legacy"],
  "ours, a session": ["ours", "legacy"],
  "ours, stateless (2026-07-28)": ["ours", "modern"],
};

/** @param {HttpClient} client @param {Name} name @param {"legacy" | "modern"} era */
async function callerOn(client, name, era) {
  return caller(
    name,
    era,
    era === "legacy" && name !== "bare loop" ? await openSession(client) : {},
  );
}

/** @param {Report} report @param {Start} start */
async function throughput(report, start) {
  const [warmUp, total] = [10_000, 10_000];
  /** @type {Record<string, number>} */
  const costs = {};
  /** @type {(label: string, name: Name, era: "legacy" | "modern") => () => Promise<number>} */
  const rate = (label, name, era) => () =>
    withServer(start[name], async (server) => {
      const client = new HttpClient(server.port, 64);
      const call = await callerOn(client, name, era);
      let next = 1;
      /** @param {number} count */
      const lanes = async (count) => {
        const last = next + count;
        const lane = async () => {
          while (next < last) {
            const id = next++;
            if (!isAnswer(await client.post(...call(id)), id))
              throw new Error(`${name}: no answer`);
          }
        };
        await Promise.all(Array.from({ length: 64 }, lane));
      };
      await lanes(warmUp);
      const before = await server.cpu();
      const started = performance.now();
      await lanes(total);
      const perSecond = total / ((performance.now() - started) / 1000);
      costs[label] = Math.min(
        costs[label] ?? Number.POSITIVE_INFINITY,
        ((await server.cpu()) - before) / total,
      );
      client.close();
      return perSecond;
    });
  const rates = await inTurn(
    3,
    Object.fromEntries(
      Object.entries(CASES).map(([label, [name, era]]) => [label, rate(label, name, era)]),
    ),
  );
  const official = median(rates["official everything, a session"]);
  report({
    title: `Calls per second over HTTP after ${warmUp.toLocaleString("en-US")} calls, 64 in flight`,
    columns: [
      "",
      "median",
      "of the official server",
      "µs of processor time a call, in the server",
      "of the bare loop's",
    ],
    rows: Object.entries(rates).map(([label, list]) => [
      label,
      figure(median(list)),
      ratio(median(list) / official),
      figure((costs[label] ?? Number.NaN) * 1000),
      ratio((costs[label] ?? Number.NaN) / (costs["bare loop"] ?? Number.NaN)),
    ]),
    notes: [
      "Goal: a stateless call costs at most 1.7x the bare loop. A session's answers are JSON, unless something is sent before them. The client and other work share the machine's cores, so processor time is the steadier figure.",
    ],
  });
}
