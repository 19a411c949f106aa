// `node test/bench/soak.mjs --minutes 30 [--only NAME]`: one fetch server over HTTP with OAuth, hostile callers with valid tokens next to
// honest ones of both eras. Prints a line each minute, and exits with 1 if an honest call was refused or memory grew.
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { figure, listen, median } from "../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../scripts/lib/setup.mjs";
import { HttpClient, Listening, withServer } from "./lib/http-kit.mjs";
import { startIssuer } from "./lib/issuer.mjs";

export const title = "Hostile and honest callers";

const AUDIENCE = "http://127.0.0.1/mcp";
const HOSTILE = [
  "hanging fetches",
  "sessions",
  "padded subscriptions",
  "unfinished bodies",
  "unfinished messages",
  "garbage",
  "flood",
  "slow readers",
];
/** The second half opens a connection for each call. */
const HONEST = ["ada", "bob", "carol", "dora"];
/** The pause of an honest caller between two calls, and the longest that it waits for an answer, in milliseconds. */
const PAUSE_MS = 150;
const PATIENCE_MS = 40_000;
/** Memory may vary by this much between the first and the last third. */
const ALLOWED_GROWTH = 1.15;

/** It takes too long for `pnpm bench`. */
export async function bench() {
  return "it takes half an hour, so it is run by hand: node test/bench/soak.mjs --minutes 30";
}

/** The web: small pages, large ones, and on another port a site that never answers. */
async function startSites() {
  const page = (/** @type {string} */ name) =>
    `<title>${name}</title><main><h1>${name}</h1><p>${"A page about the mill and its hours. ".repeat(20)}</p></main>`;
  const large = `<main>${"<p>A long page about many mills, one after another.</p>".repeat(8_000)}</main>`;
  const site = createServer((request, response) => {
    const { url = "/" } = request;
    if (url === "/robots.txt") return void response.writeHead(404).end();
    response
      .setHeader("content-type", "text/html")
      .end(url.startsWith("/big") ? page(url) + large : page(url));
  });
  const hanging = createServer(() => undefined);
  const ports = [await listen(site), await listen(hanging)];
  return {
    hosts: ports.map((port) => `127.0.0.1:${port}`),
    close() {
      for (const server of [site, hanging]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

/** @param {string} line */
const say = (line) => process.stdout.write(`${line}\n`);

/** @typedef {{ calls: number, ms: number[], refused: string[] }} Tally */

/**
 * An honest caller: lists tools, reads a page that is kept, downloads one again, and from time to time a new one. A client of
 * 2025 also listens.
 */
class Honest {
  #client;
  #port;
  #authorization;
  #site;
  #era;
  #id = 1;
  #isEnding = false;
  /** @type {Record<string, string> | undefined} */
  #session;
  /** @type {import("node:http").ClientRequest | undefined} */
  #listening;
  /** @type {Tally} */
  tally = { calls: 0, ms: [], refused: [] };

  /** @param {number} port @param {string} authorization @param {string} site @param {"legacy" | "modern"} era @param {boolean} keepsConnections */
  constructor(port, authorization, site, era, keepsConnections) {
    this.#client = new HttpClient(port, 4, keepsConnections);
    this.#port = port;
    this.#authorization = authorization;
    this.#site = site;
    this.#era = era;
  }

  async run() {
    for (let turn = 0; !this.#isEnding; turn += 1) {
      const started = performance.now();
      const problem = await this.#turn(turn).catch((error) => String(error));
      if (this.#isEnding) return;
      this.tally.calls += 1;
      this.tally.ms.push(performance.now() - started);
      if (problem !== undefined)
        this.tally.refused.push(`${new Date().toISOString()} ${this.#era}: ${problem}`);
      await new Promise((next) => setTimeout(next, PAUSE_MS));
    }
  }

  /** @param {number} turn @returns {Promise<string | undefined>} what went wrong */
  async #turn(turn) {
    if (this.#era === "legacy" && this.#session === undefined) await this.#open();
    if (turn % 4 === 0) return this.#request("tools/list", {});
    const path = turn % 40 === 1 ? `new-${this.#id}-${Math.random()}` : `page-${turn % 20}`;
    const args = { url: `http://${this.#site}/${path}`, max_age: turn % 2 === 0 ? 900 : 0 };
    return this.#request("tools/call", { name: "fetch", arguments: args });
  }

  /** @param {string} method @param {object} params */
  async #request(method, params) {
    const id = ++this.#id;
    const authorization = this.#authorization;
    const patience = AbortSignal.timeout(PATIENCE_MS);
    const [message, headers] =
      this.#era === "legacy"
        ? [{ jsonrpc: "2.0", id, method, params }, this.#session]
        : [
            { jsonrpc: "2.0", id, method, params: { ...params, _meta: META } },
            {
              "mcp-protocol-version": "2026-07-28",
              "mcp-method": method,
              ...("name" in params ? { "mcp-name": String(params.name) } : {}),
            },
          ];
    const { status, text } = await this.#client.post(
      message,
      { ...headers, authorization },
      patience,
    );
    const isGood = status === 200 && text.includes('"result"') && !text.includes('"isError":true');
    return isGood
      ? undefined
      : `${method} ${JSON.stringify(params).slice(0, 120)}: ${status} ${text.slice(0, 300)}`;
  }

  async #open() {
    const authorization = this.#authorization;
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "honest", version: "1" },
    };
    const opened = await this.#client.post(
      { jsonrpc: "2.0", id: 1, method: "initialize", params },
      { authorization },
    );
    const id = opened.headers["mcp-session-id"];
    if (typeof id !== "string")
      throw new Error(`no session: ${opened.status} ${opened.text.slice(0, 200)}`);
    this.#session = { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
    await this.#client.post(
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { ...this.#session, authorization },
    );
    const headers = { ...this.#session, authorization, accept: "text/event-stream" };
    const listening = request(
      { host: "127.0.0.1", port: this.#port, path: "/mcp", headers },
      (stream) => {
        if (stream.statusCode !== 200) this.tally.refused.push(`GET: ${stream.statusCode}`);
        stream.resume();
        stream.on("close", () => this.#isEnding || this.tally.refused.push("the stream ended"));
        stream.on("error", () => undefined);
      },
    );
    listening.on("error", (error) => this.#isEnding || this.tally.refused.push(`GET: ${error}`));
    listening.end();
    this.#listening = listening;
  }

  /** The counts since the last call. @returns {Tally} */
  take() {
    const { tally } = this;
    this.tally = { calls: 0, ms: [], refused: [] };
    return tally;
  }

  close() {
    this.#isEnding = true;
    this.#listening?.destroy();
    this.#client.close();
  }
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "honest", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** @param {number[]} values @param {number} part */
const quantile = (values, part) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)];

/** @param {number} minutes @param {readonly string[]} names of the hostile callers @returns {Promise<string[]>} what failed */
async function soak(minutes, names) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-soak-"));
  const issuer = await startIssuer(AUDIENCE);
  const sites = await startSites();
  const [site = "", hanging = ""] = sites.hosts;
  // A copy, which no build replaces while it runs.
  const fetchFolder = join(ROOT, "servers", "fetch");
  await cp(join(fetchFolder, "dist"), join(folder, "dist"), { recursive: true });
  await symlink(join(fetchFolder, "node_modules"), join(folder, "node_modules"), "junction");
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const bin = join(folder, "dist", "bin.js");
  const oauth = ["--oauth-issuer", issuer.issuer, "--oauth-audience", AUDIENCE];
  const seen = ["--audit-log", join(folder, "audit.jsonl"), "--websocket"];
  /** @param {number} port */
  const start = (port) =>
    Listening.start(
      [bin, "--http", `${port}`, "--allow-host", sites.hosts.join(","), ...oauth, ...seen],
      port,
    );
  try {
    return await withServer(start, async (server) => {
      const { port } = server;
      const bearerOf = (/** @type {string} */ name, client = "app") => issuer.bearer(name, client);
      const honest = HONEST.flatMap((name, index) =>
        /** @type {const} */ (["legacy", "modern"]).map(
          (era) => new Honest(port, bearerOf(name, era), site, era, index < HONEST.length / 2),
        ),
      );
      const running = honest.map((one) => one.run());
      const tokens = Object.fromEntries(
        names.map((name) => [name, ["a", "b", "c"].map((client) => bearerOf(name, client))]),
      );
      const forged = issuer.bearer("ada", "app", true);
      const hostile = new Worker(new URL("./lib/hostile.mjs", import.meta.url), {
        workerData: {
          port,
          hanging: `http://${hanging}`,
          big: `http://${site}/big`,
          tokens,
          forged,
        },
      });
      /** The memory of each second, in MB. @type {number[]} */
      const memory = [];
      /** @type {string[]} */
      const refused = [];
      /** @type {number[]} */
      const all = [];
      say("minute  RSS MB  honest calls  refused  p50 ms  p99 ms");
      for (let minute = 1; minute <= minutes; minute += 1) {
        const before = memory.length;
        for (let second = 0; second < 60; second += 1) {
          await new Promise((next) => setTimeout(next, 1_000));
          memory.push((await server.memory()).now);
        }
        const tallies = honest.map((one) => one.take());
        const ms = tallies.flatMap((one) => one.ms);
        const bad = tallies.flatMap((one) => one.refused);
        refused.push(...bad);
        all.push(...ms);
        const columns = [
          `${minute}`.padStart(6),
          figure(median(memory.slice(before))).padStart(7),
          `${ms.length}`.padStart(13),
          `${bad.length}`.padStart(8),
          figure(quantile(ms, 0.5)).padStart(7),
          figure(quantile(ms, 0.99)).padStart(7),
        ];
        say(columns.join(" "));
        for (const line of bad.slice(0, 5)) say(`       ${line}`);
      }
      const outcomes = new Promise((resolve) => hostile.once("message", resolve));
      hostile.postMessage("end");
      say(`what the hostile callers got, by status: ${JSON.stringify(await outcomes)}`);
      for (const one of honest) one.close();
      await Promise.all(running);
      await hostile.terminate();
      const lines = (await readFile(join(folder, "audit.jsonl"), "utf8")).trim().split("\n").length;
      say(`${lines} lines in the audit log`);
      const third = Math.floor(memory.length / 3);
      // The first minute is the warm-up.
      const first = median(memory.slice(Math.min(60, third - 1), third));
      const last = median(memory.slice(-third));
      say(
        `${all.length} honest calls, ${refused.length} refused, p50 ${figure(quantile(all, 0.5))} ms, p99 ${figure(quantile(all, 0.99))} ms; memory ${figure(first)} MB in the first third, ${figure(last)} MB in the last, ${figure(Math.max(...memory))} MB at the peak`,
      );
      return [
        ...(all.length === 0 ? ["there were no honest calls"] : []),
        ...(refused.length === 0 ? [] : [`${refused.length} honest calls were refused`]),
        ...(last > first * ALLOWED_GROWTH ? ["memory grew"] : []),
      ];
    });
  } finally {
    sites.close();
    issuer.close();
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "30" },
      only: { type: "string", multiple: true, default: HOSTILE },
    },
  });
  const failed = await soak(Number(values.minutes), values.only);
  for (const why of failed) say(`FAILED: ${why}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
