// What daily work with a large repository costs a model: calls and tokens, next to @cyanheads/git-mcp-server. Each task is
// solved as a model that knows the server's tools would; its result is checked with git.
//
//   REFMCP_CORPORA=FOLDER pnpm bench git   (with a clone of git/git in FOLDER/git)
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, peers, RawClient } from "../../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";
import { START, tasks, World } from "./daily/tasks.mjs";

/** @typedef {import("../../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {"cyanheads" | "ours"} Who */
/** @typedef {{ calls: number, tokens: number } | "–" | "fails"} Cost */

export const title = "daily tasks in git/git, by calls and tokens";

const CYANHEADS = "2.15.3";
const CHARS_PER_TOKEN = 3.5;

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  const corpus = join(process.env["REFMCP_CORPORA"] ?? "", "git");
  if (!existsSync(join(corpus, ".git"))) return "REFMCP_CORPORA has no clone of git/git";
  const top = await mkdtemp(join(tmpdir(), "daily-git-"));
  try {
    const at = await peers({ "@cyanheads/git-mcp-server": CYANHEADS });
    const home = join(top, "home");
    await mkdir(home);
    const env = {
      PATH: process.env["PATH"],
      HOME: home,
      XDG_DATA_HOME: home,
      GIT_CONFIG_NOSYSTEM: "1",
      LC_ALL: "C",
      EDITOR: "true",
      GIT_SIGN_COMMITS: "false",
      GIT_BASE_DIR: top,
      MCP_TRANSPORT_TYPE: "stdio",
      MCP_LOG_LEVEL: "error",
      LOGS_DIR: join(home, "logs"),
    };
    /** @type {Record<Who, (root: string) => string[]>} */
    const servers = {
      cyanheads: () => [at("@cyanheads/git-mcp-server/dist/index.js")],
      ours: (root) => [
        join(ROOT, "servers/git/dist/bin.js"),
        root,
        "--toolsets",
        "all",
        "--confirm",
        "never",
      ],
    };
    /** @type {Record<string, Partial<Record<Who, Cost>>>} */
    const costs = {};
    /** @type {Partial<Record<Who, number>>} */
    const lists = {};
    for (const who of /** @type {Who[]} */ (Object.keys(servers))) {
      for (const task of tasks.filter(wanted)) {
        const solve = task[who];
        let cost = /** @type {Cost} */ ("–");
        if (solve !== undefined) {
          const root = join(top, "repo");
          await rm(root, { recursive: true, force: true });
          const world = new World(root, env);
          await command("git", ["clone", "-q", "--no-checkout", corpus, root], { env });
          await world.git("fetch", "-q", corpus, "+refs/remotes/origin/*:refs/remotes/origin/*");
          await world.git("config", "user.name", "A");
          await world.git("config", "user.email", "a@example.com");
          await world.git("checkout", "-q", "-B", "main", START);
          await task.given?.(world);
          const client = new RawClient([process.execPath, ...servers[who](root)], { cwd: root, env });
          try {
            await client.initialize();
            lists[who] ??= sizeOf((await client.request("tools/list")).tools) / CHARS_PER_TOKEN;
            cost = await run(task, solve, new Agent(client, who === "cyanheads" ? root : undefined), world);
          } finally {
            await client.close();
          }
        }
        costs[task.name] = { ...costs[task.name], [who]: cost };
      }
    }
    report(table(costs, lists));
    return undefined;
  } finally {
    await rm(top, { recursive: true, force: true });
  }
}

/** REFMCP_DAILY runs only the tasks with one of these texts in their names, separated by commas. @param {{ name: string }} task */
const wanted = ({ name }) =>
  (process.env["REFMCP_DAILY"] ?? "").split(",").some((part) => name.includes(part));

/** What a model pays for. @param {{ name: string, description?: string, inputSchema: object }[]} tools */
const sizeOf = (tools) =>
  JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })))
    .length;

/**
 * Solves a task and checks the result.
 *
 * @param {import("./daily/tasks.mjs").Task} task @param {import("./daily/tasks.mjs").Solve} solve @param {Agent} agent
 * @param {World} world @returns {Promise<Cost>}
 */
async function run(task, solve, agent, world) {
  let problem = "The result is wrong.";
  try {
    if (typeof solve === "function") await solve(agent, world);
    else for (const [tool, args] of solve) await agent.call(tool, args);
    if (await task.check(world, agent.read))
      return { calls: agent.calls, tokens: agent.chars / CHARS_PER_TOKEN };
  } catch (error) {
    problem = String(error);
  }
  process.stderr.write(`${agent.root ? "cyanheads" : "ours"}, ${task.name}: ${problem.slice(0, 500)}\n`);
  return "fails";
}

/** What calls a server and counts what that costs. */
export class Agent {
  calls = 0;
  chars = 0;
  /** All that it has read. */
  read = "";

  /** @param {RawClient} client @param {string | undefined} root the peer's argument `path` */
  constructor(client, root) {
    this.client = client;
    this.root = root;
  }

  /**
   * Calls a tool; resolves with what a model reads.
   *
   * @param {string} tool @param {object} args @param {boolean} mayFail a refusal is an answer too
   */
  async call(tool, args, mayFail = false) {
    const all = this.root === undefined ? args : { path: this.root, ...args };
    const result = await this.client.request("tools/call", { name: tool, arguments: all });
    /** @type {{ text?: string }[]} */
    const content = result.content ?? [];
    const text = content.map((block) => block.text ?? "").join("\n");
    this.calls += 1;
    this.chars += tool.length + JSON.stringify(args).length + text.length;
    // An answer in JSON says the same as one in plain text.
    this.read += `${text.replaceAll('\\"', '"')}\n`;
    if (process.env["REFMCP_DAILY"])
      process.stderr.write(`> ${tool} ${JSON.stringify(args).slice(0, 300)}\n${text.slice(0, 1_500)}\n`);
    if (result.isError === true && !mayFail) throw new Error(`${tool}: ${text}`);
    return text;
  }
}

/**
 * @param {Record<string, Partial<Record<Who, Cost>>>} costs @param {Partial<Record<Who, number>>} lists
 * @returns {import("../../../scripts/lib/bench-kit.mjs").Table}
 */
function table(costs, lists) {
  /** @type {Who[]} */
  const all = ["cyanheads", "ours"];
  const names = Object.keys(costs);
  /** @param {string} name @param {Who} who */
  const done = (name, who) => typeof costs[name]?.[who] === "object";
  /** @param {Cost | undefined} cost */
  const cells = (cost) =>
    typeof cost === "object" ? [rounded(cost.calls), rounded(cost.tokens)] : [cost ?? "–", cost ?? "–"];
  const common = names.filter((name) => all.every((who) => done(name, who)));
  const sums = all.flatMap((who) => {
    const list = common.map((name) => costs[name]?.[who]).filter((cost) => typeof cost === "object");
    return [
      rounded(list.reduce((sum, { calls }) => sum + calls, 0)),
      rounded(list.reduce((sum, { tokens }) => sum + tokens, 0)),
    ];
  });
  return {
    title: `${names.length} tasks`,
    columns: ["", "cyanheads: calls", "tokens", "ours: calls", "tokens"],
    rows: [
      ...names.map((name) => [name, ...all.flatMap((who) => cells(costs[name]?.[who]))]),
      [`**tasks that both complete (${common.length})**`, ...sums],
      [
        "**tasks completed**",
        ...all.flatMap((who) => [String(names.filter((name) => done(name, who)).length), ""]),
      ],
      ["the tool list, once for each conversation", ...all.flatMap((who) => ["", rounded(lists[who] ?? 0)])],
    ],
    notes: [
      `Tokens are the characters of arguments and answers / ${CHARS_PER_TOKEN}; every task begins in a fresh clone of git/git at ${START}. "–": the server has no tool for it. "fails": it tries, and the result in the repository or the answer is wrong. The peer is @cyanheads/git-mcp-server ${CYANHEADS}; ours has all its tools.`,
    ],
  };
}

/** 1234.5 → "1,235". @param {number} value */
const rounded = (value) => Math.round(value).toLocaleString("en-US");
