// Processor time of daily calls on git/git, with all processes that they start: ours, @cyanheads/git-mcp-server and raw git in turn.
//
//   REFMCP_CORPORA=FOLDER pnpm bench git/cpu   (with a clone of git/git in FOLDER/git)
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  command,
  figure,
  median,
  peers,
  RawClient,
  ratio,
} from "../../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";

export const title = "processor time in git/git, with 100,000 tags";

const CYANHEADS = "2.15.3";
/** Each figure is the median of ROUNDS rounds of CALLS calls. */
const ROUNDS = 3;
const CALLS = 5;
const TAGS = 100_000;
const FILE = "builtin/stash.c";

/** Processor time of a process and of the children that it has waited for, in milliseconds. @param {number | "self"} pid */
function timeOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 16);
  return fields.reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

/** @typedef {{ raw: string[][], ours: [string, object][], theirs: [string, object][], limit?: number, prepare?: () => Promise<unknown> }} Work */

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const corpus = join(process.env["REFMCP_CORPORA"] ?? "", "git");
  if (!existsSync(join(corpus, ".git"))) return "REFMCP_CORPORA has no clone of git/git";
  const top = await mkdtemp(join(tmpdir(), "cpu-git-"));
  const root = join(top, "repo");
  const env = {
    PATH: process.env["PATH"],
    HOME: top,
    GIT_CONFIG_NOSYSTEM: "1",
    LC_ALL: "C",
    GIT_SIGN_COMMITS: "false",
    GIT_BASE_DIR: top,
    MCP_TRANSPORT_TYPE: "stdio",
    MCP_LOG_LEVEL: "error",
    LOGS_DIR: join(top, "logs"),
  };
  /** @param {string[]} args */
  const git = (...args) =>
    spawnSync("git", args, { cwd: root, env, encoding: "utf8", maxBuffer: 1e9 });
  try {
    const at = await peers({ "@cyanheads/git-mcp-server": CYANHEADS });
    await command("git", ["clone", "-q", corpus, root], { env });
    git("config", "user.name", "A");
    git("config", "user.email", "a@example.com");
    git("checkout", "-q", "-B", "main", "v2.50.0");
    git("branch", "topic", "HEAD~5");
    let round = 0;
    const edit = () => appendFile(join(root, FILE), `/* ${round++} */\n`);
    const path = { path: root };
    /** @type {Record<string, Work>} */
    const reads = {
      status: { raw: [["status"]], ours: [["git_status", {}]], theirs: [["git_status", path]] },
      "log of 50": {
        raw: [["log", "-50"]],
        ours: [["git_log", { max_count: 50 }]],
        theirs: [["git_log", { ...path, maxCount: 50 }]],
        limit: 0.9,
      },
      "a file at a revision": {
        raw: [["show", `v2.40.0:${FILE}`]],
        ours: [["git_show", { revision: `v2.40.0:${FILE}` }]],
        theirs: [["git_show", { ...path, object: "v2.40.0", filePath: FILE }]],
        limit: 0.8,
      },
      "a commit": {
        raw: [["show", "HEAD~3"]],
        ours: [["git_show", { revision: "HEAD~3" }]],
        theirs: [["git_show", { ...path, object: "HEAD~3" }]],
      },
      "blame of 20 lines": {
        raw: [["blame", "-L60,80", "--", FILE]],
        ours: [["git_blame", { path: FILE, start_line: 60, end_line: 80 }]],
        theirs: [["git_blame", { ...path, filePath: FILE, startLine: 60, endLine: 80 }]],
      },
      "unstaged changes": {
        raw: [["diff"]],
        ours: [["git_diff_unstaged", {}]],
        theirs: [["git_diff", path]],
      },
      branches: {
        raw: [["branch", "-vv"]],
        ours: [["git_branch", {}]],
        theirs: [["git_branch", { ...path, mode: "list" }]],
      },
    };
    /** @type {Record<string, Work>} */
    const writes = {
      git_add: {
        raw: [["add", FILE]],
        ours: [["git_add", { files: [FILE] }]],
        theirs: [["git_add", { ...path, paths: [FILE] }]],
        prepare: edit,
      },
      git_commit: {
        raw: [["commit", "-qm", "x"]],
        ours: [["git_commit", { message: "x" }]],
        theirs: [["git_commit", { ...path, message: "x" }]],
        prepare: async () => {
          await edit();
          git("add", FILE);
        },
      },
      git_checkout: {
        raw: [
          ["checkout", "-q", "topic"],
          ["checkout", "-q", "main"],
        ],
        ours: [
          ["git_checkout", { branch_name: "topic" }],
          ["git_checkout", { branch_name: "main" }],
        ],
        theirs: [
          ["git_checkout", { ...path, target: "topic" }],
          ["git_checkout", { ...path, target: "main" }],
        ],
        prepare: async () => git("reset", "-q", "--hard"),
      },
      "git_stash and pop": {
        raw: [
          ["stash", "-q"],
          ["stash", "pop", "-q"],
        ],
        ours: [
          ["git_stash", {}],
          ["git_stash_apply", { drop: true }],
        ],
        theirs: [
          ["git_stash", { ...path, mode: "push" }],
          ["git_stash", { ...path, mode: "pop" }],
        ],
        prepare: edit,
      },
    };
    /** @param {string} name @param {Record<string, Work>} works */
    const measure = async (name, works) => {
      const ours = new RawClient(
        [
          process.execPath,
          join(ROOT, "servers/git/dist/bin.js"),
          root,
          "--toolsets",
          "all",
          "--confirm",
          "never",
        ],
        { env },
      );
      const theirs = new RawClient(
        [process.execPath, at("@cyanheads/git-mcp-server/dist/index.js")],
        { cwd: root, env },
      );
      await ours.initialize();
      await theirs.initialize();
      const rows = [];
      for (const [work, { limit, prepare, ...ways }] of Object.entries(works)) {
        /** @type {Record<string, number[]>} */
        const timings = { raw: [], ours: [], theirs: [] };
        for (let turn = -1; turn < ROUNDS; turn++) {
          for (const way of /** @type {const} */ (["raw", "ours", "theirs"])) {
            let sum = 0;
            for (let call = 0; call < CALLS; call++) {
              await prepare?.();
              const client = way === "ours" ? ours : theirs;
              const pid = way === "raw" ? "self" : client.child.pid;
              const before = timeOf(pid ?? 0);
              const self = process.cpuUsage();
              if (way === "raw") for (const args of ways.raw) git(...args);
              else
                for (const [tool, args] of ways[way])
                  await client.call(tool, way === "ours" ? { repo_path: root, ...args } : args);
              const used = process.cpuUsage(self);
              sum +=
                timeOf(pid ?? 0) - before - (way === "raw" ? (used.user + used.system) / 1_000 : 0);
            }
            if (turn >= 0) timings[way]?.push(sum / CALLS);
          }
        }
        for (const list of Object.values(timings)) list.sort((a, b) => a - b);
        const goal = limit ?? (works === writes ? 1.2 : 1);
        const value = median(timings.ours) / median(timings.theirs);
        rows.push([
          work,
          ...["raw", "theirs", "ours"].map((way) => figure(median(timings[way]))),
          ratio(value),
          `${goal}x${value <= goal ? "" : " missed"}`,
        ]);
      }
      report({
        title: `${name}: milliseconds of processor time a call`,
        columns: ["work", "raw git", "peer", "ours", "ours to peer", "goal"],
        rows,
        notes: [],
      });
      await ours.close();
      await theirs.close();
    };
    const which = process.env["REFMCP_CPU"] ?? "plain writes spread one";
    if (which.includes("writes")) await measure("Changes", writes);
    git("reset", "-q", "--hard");
    if (which.includes("plain")) await measure("Reads", reads);
    const packed = await readFile(join(root, ".git/packed-refs"), "utf8");
    const commits = git("log", "-10000", "--format=%H").stdout.trim().split("\n");
    for (const [kind, name, choose] of /** @type {const} */ ([
      [
        "spread",
        "Reads, 100,000 tags on 10,000 commits",
        (/** @type {number} */ index) => commits[index % commits.length],
      ],
      ["one", "Reads, 100,000 tags on one commit", () => commits[0]],
    ])) {
      if (!which.includes(kind)) continue;
      const tags = Array.from(
        { length: TAGS },
        (_, index) => `${choose(index)} refs/tags/zz${100_000 + index}`,
      );
      await writeFile(join(root, ".git/packed-refs"), `${packed.trimEnd()}\n${tags.join("\n")}\n`);
      await measure(name, reads);
    }
    return undefined;
  } finally {
    await rm(top, { recursive: true, force: true });
  }
}
