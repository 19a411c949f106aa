// Compares the git server with raw git and a peer on a generated repository of 20,000 commits and 5,000 files, on this one, and
// on git's own (REFMCP_CORPORA/git, if there). Also runs on its own after a build: node servers/git/bench/repository.mjs
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  command,
  figure,
  inTurn,
  median,
  minimum,
  peers,
  RawClient,
  ratio,
} from "../../../scripts/lib/bench-kit.mjs";

/** @typedef {import("../../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {NodeJS.ProcessEnv & { HOME: string }} Env */
/** @typedef {{ client: RawClient, started: number, fresh: number }} Started with the memory that it used then */
/** @typedef {{ ours: Started, peer: Started | undefined, git: (...args: string[]) => Promise<number>, root: string }} Parts */
/** @typedef {[raw: () => Promise<number>, tool: string, args: object, theirs?: string, theirArgs?: object]} Work */

export const title = "20,000 commits, 5,000 files";

const PEER = { "@cyanheads/git-mcp-server": "2.15.3" };
const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const COMMITS = 20_000;
const FILES = 5_000;
const RUNS = 15;
/** Goals: milliseconds of a call in addition to raw git, milliseconds of a start, memory of a fresh server. */
const GOAL = { over: 8, start: 100, memory: 60, reading: 3, share: 0.7 };
/** This repository, and git's own. */
const HERE = fileURLToPath(new URL("../../..", import.meta.url));
const GIT = process.env.REFMCP_CORPORA && join(process.env.REFMCP_CORPORA, "git");

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-git-"));
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };
  try {
    const root = join(folder, "repo");
    await generate(root, env);
    const git = GIT && existsSync(GIT) ? GIT : undefined;
    await reading(report, env, "this repository", HERE, "AGENTS.md");
    if (git === undefined) await reading(report, env, "20,000 commits", root, "large.txt");
    else await reading(report, env, "git's own repository", git, "builtin/log.c");
    const ours = new RawClient([process.execPath, BIN, root], { env });
    const own = {
      client: ours,
      started: await ours.initialize(),
      fresh: (await ours.memory()).now,
    };
    const peer = await startPeer(root, env);
    const parts = { ours: own, peer, git: gitIn(root, env), root };
    await answers(report, parts);
    await starting(report, parts);
    await ours.close();
    await peer?.client.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Small calls on a copy of a repository, whose configuration and refs the server knows after its first call.
 *
 * @param {Report} report @param {Env} env @param {string} name @param {string} source @param {string} file
 */
async function reading(report, env, name, source, file) {
  const root = join(env.HOME, `copy-of-${name.replaceAll(/\W/g, "-")}`);
  try {
    // With all objects in packs, as after a clone.
    await command("git", ["clone", "--quiet", "--no-local", source, root], { env });
  } catch (error) {
    process.stderr.write(`${name} is left out: ${String(error).slice(0, 200)}\n`);
    return;
  }
  const git = gitIn(root, env);
  const identity = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"];
  await git(...identity, "tag", "--annotate", "bench-tag", "--message", "For the benchmark");
  const ours = new RawClient([process.execPath, BIN, root], { env });
  await ours.initialize();
  const peer = await startPeer(root, env);
  const folder = file.includes("/") ? "HEAD:builtin" : "HEAD:";
  const path = { path: root };
  /** @type {Record<string, Work>} */
  const works = {
    "log, 50 commits": [
      () => git("log", "-50"),
      "git_log",
      { max_count: 50 },
      "git_log",
      { ...path, maxCount: 50 },
    ],
    "log of a path": [
      () => git("log", "-10", "--", file),
      "git_log",
      { path: file },
      "git_log",
      { ...path, maxCount: 10, filePath: file },
    ],
    "a commit": [
      () => git("show", "HEAD"),
      "git_show",
      { revision: "HEAD" },
      "git_show",
      { ...path, object: "HEAD" },
    ],
    "a file": [
      () => git("show", `HEAD:${file}`),
      "git_show",
      { revision: `HEAD:${file}` },
      "git_show",
      { ...path, object: "HEAD", filePath: file },
    ],
    "a directory": [
      () => git("show", folder),
      "git_show",
      { revision: folder },
      "git_show",
      { ...path, object: folder },
    ],
    "a tag": [
      () => git("show", "bench-tag"),
      "git_show",
      { revision: "bench-tag" },
      "git_show",
      { ...path, object: "bench-tag" },
    ],
    branches: [
      () => git("branch", "-vv"),
      "git_branch",
      {},
      "git_branch",
      { ...path, mode: "list" },
    ],
    "blame of 20 lines": [
      () => git("blame", "-L1,20", "HEAD", "--", file),
      "git_blame",
      { path: file, end_line: 20 },
      "git_blame",
      { ...path, filePath: file, startLine: 1, endLine: 20 },
    ],
    status: [() => git("status"), "git_status", {}, "git_status", path],
  };
  try {
    const compared = await compare(works, ours, peer?.client);
    report({
      title: `Reading ${name}: milliseconds, minimum (median)`,
      columns: ["work", "raw git", "peer", "ours", "ours over raw", "ours to peer"],
      rows: compared.map(({ name: work, raw, own, theirs }) => [
        work,
        pair(raw),
        pair(theirs),
        pair(own),
        signed(minimum(own) - minimum(raw)),
        theirs === undefined
          ? "–"
          : `${ratio(minimum(own) / minimum(theirs))} (${ratio(median(own) / median(theirs))})`,
      ]),
      notes: [
        `The goals are at most ${GOAL.share} of the peer's time and at most ${GOAL.reading} ms more than raw git. ${missedBy(
          compared,
          ({ raw, own, theirs }) =>
            minimum(own) - minimum(raw) > GOAL.reading ||
            (theirs !== undefined && minimum(own) / minimum(theirs) > GOAL.share),
        )}`,
      ],
    });
  } finally {
    await ours.close();
    await peer?.client.close();
  }
}

/** @typedef {{ name: string, raw: number[], own: number[], theirs: number[] | undefined, sizes: { raw: number, own: number, theirs: number } }} Compared */

/** @param {readonly Compared[]} compared @param {(one: Compared) => boolean} isMissed */
function missedBy(compared, isMissed) {
  const missed = compared.filter(isMissed).map(({ name }) => name);
  return missed.length === 0 ? "All calls meet them." : `Missed by ${missed.join(", ")}.`;
}

/**
 * Runs the works in turns: raw git, ours, the peer.
 *
 * @param {Record<string, Work>} works @param {RawClient} ours @param {RawClient | undefined} peer
 */
async function compare(works, ours, peer) {
  /** @type {Compared[]} */
  const rows = [];
  for (const [name, [raw, tool, args, theirTool, theirArgs]] of Object.entries(works)) {
    const sizes = { raw: 0, own: 0, theirs: 0 };
    /** @param {RawClient} client @param {string} called @param {object} [with_] */
    const bytesOf = async (client, called, with_) => {
      const before = client.bytes;
      await client.call(called, with_);
      return client.bytes - before;
    };
    /** @type {Record<string, () => Promise<void>>} */
    const turns = {
      raw: async () => {
        sizes.raw = await raw();
      },
      own: async () => {
        sizes.own = await bytesOf(ours, tool, args);
      },
    };
    if (peer !== undefined && theirTool !== undefined)
      turns.theirs = async () => {
        sizes.theirs = await bytesOf(peer, theirTool, theirArgs);
      };
    const times = await inTurn(RUNS, turns, 2).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
    rows.push({ name, raw: times.raw ?? [], own: times.own ?? [], theirs: times.theirs, sizes });
  }
  return rows;
}

/** @param {number[] | undefined} list */
const pair = (list) =>
  list === undefined ? "–" : `${figure(minimum(list))} (${figure(median(list))})`;
/** @param {number} over */
const signed = (over) => `${over >= 0 ? "+" : ""}${figure(over)}`;

/** @param {Report} report @param {Parts} parts */
async function answers(report, { ours: { client: ours }, peer, git, root }) {
  /** @type {Record<string, Work>} */
  const works = {
    status: [() => git("status"), "git_status", {}, "git_status", { path: root }],
    "log, 50 commits": [
      () => git("log", "-50"),
      "git_log",
      { max_count: 50 },
      "git_log",
      { path: root, maxCount: 50 },
    ],
    "diff of 1 MB": [
      () => git("diff", "HEAD", "big"),
      "git_diff",
      { target: "HEAD..big" },
      "git_diff",
      { path: root, source: "HEAD", target: "big" },
    ],
    "blame of 300 lines": [
      () => git("blame", "-L1,300", "HEAD", "--", "large.txt"),
      "git_blame",
      { path: "large.txt", end_line: 300 },
      "git_blame",
      { path: root, filePath: "large.txt", startLine: 1, endLine: 300 },
    ],
    "files of a commit": [
      () => git("ls-tree", "-r", "--name-only", "HEAD"),
      "git_list_files",
      { revision: "HEAD" },
    ],
  };
  const compared = await compare(works, ours, peer?.client);
  report({
    title: "Milliseconds, minimum (median), and output bytes",
    columns: [
      "work",
      "raw git",
      "peer",
      "ours",
      "ours over raw",
      "raw out",
      "peer out",
      "ours out",
    ],
    rows: compared.map(({ name, raw, own, theirs, sizes }) => [
      name,
      pair(raw),
      pair(theirs),
      pair(own),
      signed(minimum(own) - minimum(raw)),
      ...[sizes.raw, sizes.theirs, sizes.own].map(bytes),
    ]),
    notes: [
      `Raw git is a bare spawn whose output is read. The peer is ${Object.keys(PEER)[0]} ${Object.values(PEER)[0]}${peer === undefined ? ", which could not be installed here" : ""}. The answer's size counts each fact twice (structured and as text).`,
      `The goal is at most ${GOAL.over} ms more than raw git. ${missedBy(compared, ({ raw, own }) => minimum(own) - minimum(raw) > GOAL.over)}`,
    ],
  });
}

/** @param {Report} report @param {Parts} parts */
async function starting(report, { ours, peer }) {
  const { started } = ours;
  const missed = [
    ...(started > GOAL.start ? [`the start takes ${figure(started)} ms`] : []),
    ...(ours.fresh > GOAL.memory ? [`a fresh server uses ${figure(ours.fresh)} MB`] : []),
  ];
  /** @param {string} name @param {Started} process */
  const row = async (name, { client, started: took, fresh }) => {
    const { now, peak } = await client.memory();
    return [name, figure(took), figure(fresh), figure(now), figure(peak)];
  };
  report({
    title: "Start to first answer, and memory",
    columns: ["", "ms", "RSS MB then", "RSS MB at the end", "peak MB"],
    rows: [await row("ours", ours), ...(peer === undefined ? [] : [await row("peer", peer)])],
    notes: [
      ...(peer === undefined ? [] : [`Start: ${ratio(started / peer.started)} of the peer.`]),
      `The goal is ${GOAL.start} ms and ${GOAL.memory} MB${missed.length === 0 ? "; met" : `; missed: ${missed.join(", ")}. An empty Node process alone uses about 40 MB and takes at least 40 ms to start`}.`,
    ],
  });
}

/**
 * Starts the peer with the repository as its directory; undefined if npm is unreachable.
 *
 * @type {(root: string, env: Env) => Promise<Started | undefined>}
 */
async function startPeer(root, env) {
  try {
    const at = await peers(PEER);
    const bin = at("@cyanheads/git-mcp-server/dist/index.js");
    const client = new RawClient([process.execPath, bin], {
      env: {
        ...env,
        GIT_BASE_DIR: root,
        MCP_TRANSPORT_TYPE: "stdio",
        MCP_LOG_LEVEL: "error",
        LOGS_DIR: join(env.HOME, "logs"),
      },
    });
    const started = await client.initialize();
    return { client, started, fresh: (await client.memory()).now };
  } catch (error) {
    process.stderr.write(`The peer is left out: ${String(error).slice(0, 200)}\n`);
    return undefined;
  }
}

/** @param {number} count */
function bytes(count) {
  if (count === 0) return "–";
  return count < 10_000 ? `${count} B` : `${figure(count / 1000)} kB`;
}

/** @param {string} root @param {Env} env @returns {(...args: string[]) => Promise<number>} */
const gitIn =
  (root, env) =>
  (...args) =>
    runGit(root, env, args);

/**
 * Spawns git, reads its output, and resolves with the number of bytes.
 *
 * @param {string} cwd @param {Env} env @param {string[]} args
 */
async function runGit(cwd, env, args) {
  const child = spawn("git", args, { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  let size = 0;
  child.stdout.on("data", (chunk) => (size += chunk.length));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`git ${args.join(" ")} ended with ${code}`);
  return size;
}

/**
 * Creates the repository with `git fast-import`: 5,000 files, 20,000 commits, and a branch with a diff of 1 MB.
 *
 * @param {string} root @param {Env} env
 */
async function generate(root, env) {
  await command("git", ["init", "--quiet", "--initial-branch=main", root], { env });
  const child = spawn("git", ["fast-import", "--quiet"], {
    cwd: root,
    env,
    stdio: ["pipe", "ignore", "inherit"],
  });
  /** @param {string} text */
  const say = async (text) => {
    if (!child.stdin.write(text)) await once(child.stdin, "drain");
  };
  /** @param {string} text */
  const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  /** @param {number} index */
  const path = (index) => `src/part-${index % 50}/module-${index % 500}/file-${index}.txt`;
  /** @param {string} ref @param {number} time @param {string} message */
  const head = (ref, time, message) =>
    `commit refs/heads/${ref}\ncommitter Bench <bench@example.org> ${time} +0000\n${data(message)}`;
  const line = "The quick brown fox jumps over the lazy dog, again and again.\n";
  let text = head("main", 1_600_000_000, "Files");
  for (let index = 0; index < FILES; index++)
    text += `M 100644 inline ${path(index)}\n${data(`${line.repeat(8)}${index}\n`)}`;
  text += `M 100644 inline large.txt\n${data(Array.from({ length: 2_000 }, (_, index) => `${index} ${line}`).join(""))}`;
  await say(`${text}\n`);
  for (let commit = 1; commit < COMMITS; commit++) {
    const changed = `${line.repeat(8)}${commit}\n`;
    await say(
      `${head("main", 1_600_000_000 + commit * 60, `Commit ${commit}\n\nIt changes one file.`)}M 100644 inline ${path(commit % FILES)}\n${data(changed)}\n`,
    );
  }
  let big = `${head("big", 1_700_000_000, "Big change")}from refs/heads/main\n`;
  for (let index = 0; index < 400; index++)
    big += `M 100644 inline ${path(index)}\n${data(Array.from({ length: 20 }, (_, at) => `${at} ${index} ${line}`).join(""))}`;
  await say(`${big}\n`);
  child.stdin.end();
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  await command("git", ["checkout", "--quiet", "main"], { cwd: root, env });
  await command("git", ["gc", "--quiet"], { cwd: root, env });
  await writeFile(join(root, path(7)), "changed\n");
  await writeFile(join(root, "new.txt"), "new\n");
  await command("git", ["status"], { cwd: root, env });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench({
    report({ title: name, columns, rows, notes = [] }) {
      process.stdout.write(
        `\n${name}\n${[columns, ...rows].map((row) => row.join(" | ")).join("\n")}\n${notes.join("\n")}\n`,
      );
    },
  });
}
