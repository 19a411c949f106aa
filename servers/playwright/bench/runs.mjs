// One job, two assertions and a screenshot, three ways: raw Playwright in this process, @playwright/mcp and this server.
// Needs a browser of the machine (test/browser.mjs finds or installs one). Runs alone too, after a build:
// node servers/playwright/bench/runs.mjs
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { expect } from "playwright/test";
import {
  figure,
  inTurn,
  listen,
  median,
  peers,
  RawClient,
  ratio,
} from "../../../scripts/lib/bench-kit.mjs";
import { ensureBrowser } from "../test/browser.mjs";

/** @typedef {{ raw?: number, peer?: number, ours: number }} Figures */
/** @typedef {import("playwright").Browser} Browser */

export const title = "two assertions and a screenshot in a real browser";

const PEER = { "@playwright/mcp": "0.0.83" };
const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const RUNS = 15;
const COLD = 5;
const CONTEXTS = 8;
/** What a model needs at least between initialize and its first call. */
const PAUSE_MS = 2_000;

// A page of ordinary size, to measure the cost of a whole-page snapshot.
const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Docs</title></head><body>
<nav>${Array.from({ length: 40 }, (_, n) => `<a href="/page/${n}">Chapter ${n}</a>`).join(" ")}</nav>
<main><h1>Docs</h1>${Array.from({ length: 120 }, (_, n) => `<section><h2>Part ${n}</h2><p>What part ${n} is about, in a line of text that is neither long nor short.</p><button>Try ${n}</button></section>`).join("\n")}</main></body></html>`;

const SMALL = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Docs</title></head><body><h1>Docs</h1><p>Hello</p></body></html>`;

/** @type {import("node:http").RequestListener} */
function respond({ url = "" }, response) {
  response
    .writeHead(200, { "content-type": "text/html; charset=utf-8" })
    .end(url === "/small" ? SMALL : PAGE);
}

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const site = createServer(respond);
  const url = `http://127.0.0.1:${await listen(site)}/`;
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-playwright-"));
  try {
    const browser = await ensureBrowser();
    await measure(report, { folder, browser, url });
  } finally {
    site.closeAllConnections();
    site.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** @param {import("../../../scripts/lib/bench-kit.mjs").Report} report @param {{ folder: string, browser: { executablePath: string }, url: string }} parts */
async function measure(report, { folder, browser, url }) {
  const executablePath = browser.executablePath;
  const cli = (await peers(PEER))("@playwright/mcp/cli.js");
  const { env } = process;
  /** @param {string[]} argv */
  const run = (argv) => new RawClient([process.execPath, ...argv], { env });
  const starts = {
    peer: () =>
      run([
        cli,
        "--headless",
        "--isolated",
        "--no-sandbox",
        "--executable-path",
        executablePath,
        "--output-dir",
        join(folder, "peer"),
      ]),
    ours: () =>
      run([BIN, "--executable-path", executablePath, "--output-dir", join(folder, "ours")]),
  };
  // With @playwright/mcp the model judges: it needs the snapshot, the console and the screenshot in its answers.
  const jobs = {
    /** @param {RawClient} client */
    async peer(client, at = url) {
      const arrived = await client.call("browser_navigate", { url: at });
      const seen = await client.call("browser_snapshot");
      const console = await client.call("browser_console_messages", { level: "error" });
      const shot = await client.call("browser_take_screenshot", {});
      if (!JSON.stringify(seen).includes('heading \\"Docs\\" [level=1]'))
        throw new Error(JSON.stringify(seen).slice(0, 500));
      return [arrived, seen, console, shot];
    },
    /** @param {RawClient} client */
    async ours(client, at = url) {
      const answer = await client.call("pw_run_test", {
        url: at,
        assertions: ["h1 contains 'Docs'", "no console errors"],
      });
      if (answer.structuredContent["passed"] !== true) throw new Error(JSON.stringify(answer));
      return [answer];
    },
  };
  /** @param {Browser} running */
  const raw = async (running, at = url) => {
    const context = await running.newContext();
    const page = await context.newPage();
    /** @type {string[]} */
    const errors = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(at);
    await expect(page.locator("h1")).toContainText("Docs");
    expect(errors).toEqual([]);
    await page.screenshot({ path: join(folder, "raw.png") });
    await context.close();
  };
  const launch = () => chromium.launch({ executablePath, env, args: ["--no-sandbox"] });

  const cold = await inTurn(COLD, {
    async raw() {
      const started = performance.now();
      const running = await launch();
      await raw(running);
      const took = performance.now() - started;
      await running.close();
      return took;
    },
    peer: () => firstJob(starts.peer, jobs.peer),
    ours: () => firstJob(starts.ours, jobs.ours),
  });
  const start = await inTurn(COLD, {
    peer: () => firstJob(starts.peer, jobs.peer, 0, true),
    ours: () => firstJob(starts.ours, jobs.ours, 0, true),
  });
  const later = await inTurn(COLD, {
    peer: () => firstJob(starts.peer, jobs.peer, PAUSE_MS),
    ours: () => firstJob(starts.ours, jobs.ours, PAUSE_MS),
  });
  const initialize = await inTurn(COLD, {
    peer: () => initialized(starts.peer),
    ours: () => initialized(starts.ours),
  });

  const running = await launch();
  const peer = starts.peer();
  const ours = starts.ours();
  await peer.initialize();
  await ours.initialize();
  /** @type {(at: string) => Record<"raw" | "peer" | "ours", () => unknown>} */
  const further = (at) => ({
    raw: () => raw(running, at),
    peer: () => jobs.peer(peer, at),
    ours: () => jobs.ours(ours, at),
  });
  const warm = await inTurn(RUNS, further(url), 3);
  const small = await inTurn(RUNS, further(`${url}small`), 3);
  const { raw: floor, peer: other, ours: own } = further(url);
  const spent = await inTurn(RUNS, {
    raw: spending(process.pid, floor),
    peer: spending(peer.child.pid, other),
    ours: spending(ours.child.pid, own),
  });
  const bytes = {
    peer: JSON.stringify(await jobs.peer(peer)).length,
    ours: JSON.stringify(await jobs.ours(ours)).length,
  };
  const works = { raw: () => raw(running), ours: () => jobs.ours(ours) };
  const memory = { peer: await family(peer.child.pid), ours: await family(ours.child.pid) };
  const many = await rates(works);
  const crowded = { peer: memory.peer, ours: await family(ours.child.pid) };
  const session = await running.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const rawPid = processInfo.find(({ type }) => type === "browser")?.id;
  const busy = {
    raw: await peak(works.raw, async () => (await family(rawPid)) + (await memoryOf(process.pid))),
    ours: await peak(works.ours, () => family(ours.child.pid)),
  };
  await Promise.all([running.close(), peer.close(), ours.close()]);

  /** @type {(what: string, figures: Figures) => string[]} */
  const line = (what, { raw: floor, peer: other, ours: mine }) => [
    what,
    figure(floor),
    figure(other),
    figure(mine),
    ratio(mine / (floor ?? Number.NaN)),
    ratio(mine / (other ?? Number.NaN)),
  ];
  /** @type {(taken: { raw?: number[], peer?: number[], ours: number[] }) => Figures} */
  const medians = ({ raw: floor, peer: other, ours: mine }) => ({
    raw: median(floor),
    peer: median(other),
    ours: median(mine),
  });
  report({
    title: "Milliseconds, bytes to the model, runs per second",
    columns: [
      "",
      "raw Playwright, in process",
      `@playwright/mcp ${PEER["@playwright/mcp"]}`,
      "ours",
      "of raw",
      "of @playwright/mcp",
    ],
    rows: [
      line("from start to the answer of initialize", medians(initialize)),
      line("from start to the first verdict", medians(cold)),
      line("processor time up to it, browser included", medians(start)),
      line(`first verdict, requested ${PAUSE_MS / 1000} s after initialize`, medians(later)),
      line("a further verdict", medians(warm)),
      line("a further verdict on a page with a heading and a paragraph", medians(small)),
      line("processor time of a further verdict, browser included", medians(spent)),
      line("bytes of answers for one verdict", bytes),
      line(`verdicts per second, ${CONTEXTS} at once`, many),
      line("memory of server and browser, MB", memory),
      line(`the same after ${CONTEXTS} at once, MB`, crowded),
      line(`peak memory of both, ${CONTEXTS} at once, MB`, busy),
    ],
    notes: [
      "The job: open a page of 120 sections, check that h1 contains Docs and that the console has no errors, take a screenshot. @playwright/mcp needs four calls for it (navigate, snapshot, console messages, screenshot) and leaves the verdict to the model; raw Playwright is the library in the benchmark's process. All three start the same browser.",
      "Our run does more: it uses a fresh context behind a proxy that checks every address, waits until the page was quiet for 100 ms before it reports that there were no errors, and writes a report. Raw Playwright does not wait and can miss a late error. @playwright/mcp keeps one context for all calls. The time from start to first verdict includes the start of Node.js for the servers, and not for raw Playwright.",
      "Memory is the proportional set size (PSS): pages that processes share count once. @playwright/mcp has one page and makes no verdicts at the same time, so its memory is the same in both lines.",
    ],
  });
}

/** @param {() => RawClient} start */
async function initialized(start) {
  const client = start();
  const took = await client.initialize();
  await client.close();
  return took;
}

/**
 * The first job of a process: at once from its start on, or after a pause as a model makes it, from then on.
 *
 * @param {() => RawClient} start @param {(client: RawClient) => unknown} job
 */
async function firstJob(start, job, pauseMs = 0, isSpending = false) {
  const client = start();
  await client.initialize();
  // As every host does before its first call.
  await client.request("tools/list");
  if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  const begun = pauseMs > 0 ? performance.now() : client.started;
  await job(client);
  const took = isSpending ? await spentBy(client.child.pid) : performance.now() - begun;
  await client.close();
  return took;
}

/** The processor time of a job. @param {number | undefined} pid @param {() => unknown} job */
const spending = (pid, job) => async () => {
  const before = await spentBy(pid);
  await job();
  return (await spentBy(pid)) - before;
};

/**
 * Jobs a second with `CONTEXTS` of them in progress, measured in turn; the median of three rounds.
 *
 * @param {{ raw: () => unknown, ours: () => unknown }} works
 */
async function rates(works) {
  /** @param {() => unknown} work */
  const rate = (work) => async () => {
    const started = performance.now();
    await crowd(work);
    return (CONTEXTS * 4_000) / (performance.now() - started);
  };
  const rounds = await inTurn(3, { raw: rate(works.raw), ours: rate(works.ours) });
  return { raw: median(rounds.raw), ours: median(rounds.ours) };
}

/** Does a job 32 times, with `CONTEXTS` of them in progress. @param {() => unknown} work */
async function crowd(work) {
  let remaining = CONTEXTS * 4;
  const worker = async () => {
    while (remaining > 0) {
      remaining -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: CONTEXTS }, worker));
}

/** The maximum of `memory` during concurrent jobs. @param {() => unknown} work @param {() => Promise<number>} memory */
async function peak(work, memory) {
  const values = [];
  let isOver = false;
  const jobs = crowd(work).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    values.push(await memory());
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await jobs;
  return Math.max(...values);
}

/** A process's share of memory in MB: what several share counts in parts. NaN off Linux. @param {number} pid */
async function memoryOf(pid) {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "latin1").catch(() => "");
  return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? Number.NaN) / 1000;
}

/** The memory of a process and all below it. @param {number | undefined} pid */
async function family(pid) {
  const all = await Promise.all((await treeOf(pid)).map(({ id }) => memoryOf(id)));
  // One may have ended by now.
  return all.length === 0 ? Number.NaN : all.reduce((sum, share) => sum + (share || 0), 0);
}

/** The processor time of a process and all below it, with those that have ended. @param {number | undefined} pid */
async function spentBy(pid) {
  const all = await treeOf(pid);
  return all.length === 0 ? Number.NaN : all.reduce((sum, { spent }) => sum + spent, 0);
}

/**
 * A process and all below it, each with its processor time and that of its ended children in milliseconds. None off
 * Linux.
 *
 * @param {number | undefined} pid
 */
async function treeOf(pid) {
  if (pid === undefined || process.platform !== "linux") return [];
  const all = await Promise.all(
    (await readdir("/proc")).map(async (name) => {
      const stat = await readFile(`/proc/${name}/stat`, "latin1").catch(() => "");
      const fields = stat.slice(stat.lastIndexOf(")")).split(" ").map(Number);
      const ticks = fields.slice(12, 16).reduce((sum, tick) => sum + tick, 0);
      return { id: Number(name), parent: fields[2], spent: ticks * 10 };
    }),
  );
  /** @type {(entry: (typeof all)[number]) => typeof all} */
  const below = (entry) => [
    entry,
    ...all.filter(({ parent }) => parent === entry.id).flatMap((child) => below(child)),
  ];
  return all.filter(({ id }) => id === pid).flatMap((entry) => below(entry));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench({
    report({ columns, rows, notes = [] }) {
      for (const row of [columns, ...rows]) process.stdout.write(`${row.join(" | ")}\n`);
      for (const note of notes) process.stdout.write(`\n${note}\n`);
    },
  });
}
