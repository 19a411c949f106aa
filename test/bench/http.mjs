// Streamable HTTP under load: calls per second, 1,000 requests at once, 200 sessions, clients that vanish or do not read.
import { setMaxListeners } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { figure, inTurn, median, peers, ratio } from "../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../scripts/lib/setup.mjs";
import { HttpClient, Listening, stubborn, withServer } from "./lib/http-kit.mjs";

/** @typedef {import("../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {"bare loop" | "official everything" | "ours"} Name */
/** @typedef {Record<Name, (port: number) => Promise<Listening>>} Start */
/** @typedef {(id: number) => [message: object, headers: Record<string, string>]} Call */

export const title = "Streamable HTTP under load";

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
    await atOnce(report, start);
    await sessions(report, start);
    await badClients(report, start);
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
  const taken = await inTurn(
    3,
    Object.fromEntries(
      Object.entries(CASES).map(([label, [name, era]]) => [label, rate(label, name, era)]),
    ),
  );
  const official = median(taken["official everything, a session"]);
  report({
    title: `Calls per second over HTTP after ${warmUp.toLocaleString("en-US")} calls, 64 in flight`,
    columns: [
      "",
      "median",
      "of the official server",
      "µs of processor time a call, in the server",
      "of the bare loop's",
    ],
    rows: Object.entries(taken).map(([label, list]) => [
      label,
      figure(median(list)),
      ratio(median(list) / official),
      figure((costs[label] ?? Number.NaN) * 1000),
      ratio((costs[label] ?? Number.NaN) / (costs["bare loop"] ?? Number.NaN)),
    ]),
    notes: [
      "Goal: a stateless call costs at most 3x the bare loop. A session's answers are JSON, unless something is sent before them. The client and other work share the machine's cores, so processor time is the steadier figure.",
    ],
  });
}

/** @param {Report} report @param {Start} start */
async function atOnce(report, start) {
  /** @type {string[][]} */
  const rows = [];
  for (const [label, [name, era]] of Object.entries(CASES)) {
    await withServer(start[name], async (server) => {
      const client = new HttpClient(server.port, 1_000);
      const call = await callerOn(client, name, era);
      const idle = await server.memory();
      const started = performance.now();
      const taken = await Promise.all(
        Array.from({ length: 1_000 }, async (_, index) => {
          const answer = await client
            .post(...call(index + 1))
            .catch(() => ({ status: 0, text: "" }));
          return isAnswer(answer, index + 1) ? performance.now() - started : undefined;
        }),
      );
      const good = taken.filter((ms) => ms !== undefined).sort((a, b) => a - b);
      const peak = await server.memory();
      client.close();
      rows.push([
        label,
        `${good.length}`,
        figure(median(good)),
        figure(good[Math.floor(good.length * 0.99)]),
        figure(idle.now),
        figure(peak.peak),
      ]);
    });
  }
  report({
    title: "1,000 concurrent requests, each on its own connection",
    columns: ["", "answered", "median ms", "99 % within ms", "MB before", "MB at the peak"],
    rows,
    notes: ["1,000 requests wait for one process, so the last takes as long as all of them."],
  });
}

/** @param {Report} report @param {Start} start */
async function sessions(report, start) {
  /** @type {string[][]} */
  const rows = [];
  for (const name of /** @type {const} */ (["official everything", "ours"])) {
    await withServer(start[name], async (server) => {
      const client = new HttpClient(server.port, 64);
      /** @param {number} count */
      const open = async (count) =>
        Promise.all(Array.from({ length: count }, () => openSession(client)));
      await open(20);
      const before = await server.memory();
      const opened = await open(200);
      const after = await server.memory();
      let good = 0;
      for (let round = 1; round <= 10; round++) {
        await Promise.all(
          opened.map(async (session) => {
            const answer = await client.post(...caller(name, "legacy", session)(round));
            if (isAnswer(answer, round)) good += 1;
          }),
        );
      }
      const worked = await server.memory();
      client.close();
      rows.push([
        name,
        `${good} of 2,000`,
        figure(((after.now - before.now) * 1000) / 200),
        figure(((worked.now - before.now) * 1000) / 200),
        figure(worked.peak),
      ]);
    });
  }
  report({
    title: "200 sessions, ten calls each on the same ids",
    columns: ["", "answered", "kB a session", "kB a session after its calls", "MB at the peak"],
    rows,
  });
}

/** @param {Report} report @param {Start} start */
async function badClients(report, start) {
  /** @type {string[][]} */
  const rows = [];
  for (const [label, [name, era]] of Object.entries(CASES).slice(1)) {
    await withServer(start[name], async (server) => {
      const client = new HttpClient(server.port, 200);
      const call = await callerOn(client, name, era);
      for (let id = 1; id <= 200; id++) await client.post(...call(id));
      const before = await server.memory();
      for (let round = 0; round < 10; round++) {
        const vanish = new AbortController();
        setMaxListeners(0, vanish.signal);
        const sent = Array.from({ length: 200 }, (_, index) =>
          client.post(...call(1_000 + round * 200 + index), vanish.signal).catch(() => undefined),
        );
        setTimeout(() => vanish.abort(), 5);
        await Promise.all(sent);
      }
      const vanished = await server.memory();
      const sockets = await stubborn(server.port, call, 100);
      const ids = Array.from({ length: 100 }, (_, index) => 100_000 + index);
      const started = performance.now();
      const served = await Promise.all(
        ids.map(async (id) => isAnswer(await client.post(...call(id)), id)),
      );
      const took = performance.now() - started;
      const slow = await server.memory();
      for (const socket of sockets) socket.destroy();
      client.close();
      rows.push([
        label,
        figure(before.now),
        figure(vanished.now),
        figure(slow.peak),
        `${served.filter(Boolean).length} of 100`,
        figure(took),
      ]);
    });
  }
  report({
    title: "2,000 clients that vanish, then 100 that send 500 calls each and read nothing",
    columns: [
      "",
      "MB before",
      "MB after the vanished",
      "MB at the peak",
      "other answers during it",
      "ms they took",
    ],
    rows,
    notes: [
      "The 100 others wait behind the 50,000 calls of those who do not read; what counts is that all of them are answered, and what memory it takes.",
    ],
  });
}
