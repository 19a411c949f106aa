// Compares the git server with raw git and a peer on a generated repository of 20,000 commits and 5,000 files. Also runs on its
// own after a build: node servers/git/bench/repository.mjs
import { spawn } from "node:child_process";
import { once } from "node:events";
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

export const title = "20,000 commits, 5,000 files";

const PEER = { "@cyanheads/git-mcp-server": "2.15.3" };
const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const COMMITS = 20_000;
const FILES = 5_000;
const RUNS = 15;
/** Goals: milliseconds of a call in addition to raw git, milliseconds of a start, memory of a fresh server. */
const GOAL = { over: 8, start: 100, memory: 60 };

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-bench-git-"));
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };
  try {
    const root = join(folder, "repo");
    await generate(root, env);
    const ours = new RawClient([process.execPath, BIN, root], { env });
    const own = { client: ours, started: await ours.initialize(), fresh: (await ours.memory()).now };
    const peer = await startPeer(root, env);
    /** @param {string[]} args */
    const git = (...args) => runGit(root, env, args);
    const parts = { ours: own, peer, git, root };
    await answers(report, parts);
    await starting(report, parts);
    await ours.close();
    await peer?.client.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {Report} report @param {Parts} parts */
async function answers(report, { ours: { client: ours }, peer, git, root }) {
  /** @type {Record<string, [raw: () => Promise<number>, tool: string, args: object, theirs?: string, theirArgs?: object]>} */
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
  const rows = [];
  const missed = [];
  for (const [name, [raw, tool, args, theirTool, theirArgs]] of Object.entries(works)) {
    const sizes = { raw: 0, ours: 0, peer: 0 };
    /** @type {Record<string, () => Promise<void>>} */
    const turns = {
      raw: async () => {
        sizes.raw = await raw();
      },
      ours: async () => {
        const before = ours.bytes;
        await ours.call(tool, args);
        sizes.ours = ours.bytes - before;
      },
    };
    if (peer !== undefined && theirTool !== undefined) {
      turns.peer = async () => {
        const before = peer.client.bytes;
        await peer.client.call(theirTool, theirArgs);
        sizes.peer = peer.client.bytes - before;
      };
    }
    const taken = await inTurn(RUNS, turns, 2).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
    /** @param {number[] | undefined} list */
    const pair = (list) => (list === undefined ? "–" : `${figure(minimum(list))} (${figure(median(list))})`);
    const over = minimum(taken.ours) - minimum(taken.raw);
    if (over > GOAL.over) missed.push(`${name} (+${figure(over)})`);
    rows.push([
      name,
      pair(taken.raw),
      pair(taken.peer),
      pair(taken.ours),
      `${over >= 0 ? "+" : ""}${figure(over)}`,
      bytes(sizes.raw),
      peer === undefined ? "–" : bytes(sizes.peer),
      bytes(sizes.ours),
    ]);
  }
  report({
    title: "Milliseconds, minimum (median), and output bytes",
    columns: ["work", "raw git", "peer", "ours", "ours over raw", "raw out", "peer out", "ours out"],
    rows,
    notes: [
      `Raw git is a bare spawn whose output is read. The peer is ${Object.keys(PEER)[0]} ${Object.values(PEER)[0]}${peer === undefined ? ", which could not be installed here" : ""}. Each call rereads the repository's configuration and overrides everything in it that could run a program; the answer's size counts each fact twice (structured and as text).`,
      missed.length === 0
        ? `The goal is at most ${GOAL.over} ms more than raw git; all calls meet it.`
        : `The goal is at most ${GOAL.over} ms more than raw git; missed by ${missed.join(", ")}. A call runs git two or three times, side by side where it can (names to object ids, configuration, the work itself), so it depends on a second core being free.`,
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
