// What daily work with a folder of 5,000 files costs a model: calls and tokens, next to the official server and Desktop
// Commander. Each task is solved as a model that knows the server's tools would; its result is checked on the disk.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, figure, peers, RawClient } from "../../../scripts/lib/bench-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";
import { makeFolder } from "./daily/folder.mjs";
import { tasks } from "./daily/tasks.mjs";
import { World } from "./daily/world.mjs";

/** @typedef {import("../../../scripts/lib/bench-kit.mjs").Report} Report */
/** @typedef {"official" | "commander" | "ours"} Who */
/** @typedef {{ calls: number, tokens: number } | "–" | "fails"} Cost */

export const title = "daily tasks in a folder of 5,000 files, by calls and tokens";

const OFFICIAL = "2026.8.31";
const COMMANDER = "0.2.52";
const CHARS_PER_TOKEN = 3.5;
/** More than this doesn't fit into the context of any model, so that the task can't be done. */
const MAX_TOKENS = 1_000_000;

// Desktop Commander reports its use to its makers: it gets no network here.
const OFFLINE = `const { Socket } = require("node:net");
Socket.prototype.connect = function () { process.nextTick(() => this.destroy(new Error("offline"))); return this; };`;

/** @param {{ report: Report }} harness */
export async function bench({ report }) {
  if (process.platform === "win32") return "Desktop Commander's solutions are written for a POSIX shell";
  const top = await mkdtemp(join(tmpdir(), "daily-"));
  /** @type {RawClient[]} */
  const clients = [];
  try {
    // A dependency of Desktop Commander's converter to PDF would download a browser.
    process.env["PUPPETEER_SKIP_DOWNLOAD"] = "1";
    const peer = await peers({
      "@modelcontextprotocol/server-filesystem": OFFICIAL,
      "@wonderwhy-er/desktop-commander": COMMANDER,
      fflate: "0.8.3",
    });
    const original = join(top, "original");
    const root = join(top, "files");
    const home = join(top, "home");
    for (const folder of [original, root, home]) await mkdir(folder);
    const { zipSync } = createRequire(import.meta.url)(peer("fflate"));
    const reason = await makeFolder(original, zipSync);
    if (reason !== undefined) return reason;
    await writeFile(join(top, "offline.cjs"), OFFLINE);
    const env = { ...process.env, HOME: home, XDG_DATA_HOME: join(home, ".local", "share") };
    /** @type {Record<Who, string[]>} */
    const argv = {
      official: [peer("@modelcontextprotocol/server-filesystem/dist/index.js"), root],
      commander: [
        "--require",
        join(top, "offline.cjs"),
        peer("@wonderwhy-er/desktop-commander/dist/index.js"),
        "--no-onboarding",
      ],
      ours: [
        join(ROOT, "servers", "filesystem", "dist", "bin.js"),
        root,
        "--journal-dir",
        join(home, "journal"),
      ],
    };
    /** @type {Record<string, Partial<Record<Who, Cost>>>} */
    const costs = {};
    /** @type {Record<string, number>} */
    const lists = {};
    for (const who of /** @type {Who[]} */ (Object.keys(argv))) {
      await restore(original, root);
      const client = new RawClient([process.execPath, ...argv[who]], { cwd: root, env });
      clients.push(client);
      await client.initialize();
      const { tools } = await client.request("tools/list");
      lists[who] = JSON.stringify(tools.map(visible)).length / CHARS_PER_TOKEN;
      const agent = new Agent(client, root);
      let clean = true;
      for (const task of tasks) {
        if (!wanted(task.name)) continue;
        const solve = task[who];
        if (solve === undefined) {
          costs[task.name] = { ...costs[task.name], [who]: "–" };
          continue;
        }
        if (!clean && !task.follows) await restore(original, root);
        clean = task.changes !== true;
        agent.calls = agent.chars = 0;
        const passed = await run(task, solve, agent, new World(root, original), who);
        const cost =
          agent.tokens > MAX_TOKENS ? "–" : passed ? { calls: agent.calls, tokens: agent.tokens } : "fails";
        costs[task.name] = { ...costs[task.name], [who]: cost };
      }
      await client.close();
    }
    report(table(costs, lists));
    return undefined;
  } finally {
    for (const client of clients) client.child.kill();
    await rm(top, { recursive: true, force: true });
  }
}

/** REFMCP_DAILY runs only the tasks with one of these texts in their names, separated by commas. @param {string} name */
function wanted(name) {
  return (process.env["REFMCP_DAILY"] ?? "").split(",").some((part) => name.includes(part));
}

/** What a model pays for. @param {{ name: string, description?: string, inputSchema: object }} tool */
const visible = ({ name, description, inputSchema }) => ({ name, description, inputSchema });

/** @param {string} original @param {string} root */
async function restore(original, root) {
  await command("find", [root, "-mindepth", "1", "-delete"]);
  await command("cp", ["-a", `${original}/.`, root]);
}

/**
 * Solves a task and checks the result.
 *
 * @param {import("./daily/world.mjs").Task} task @param {import("./daily/world.mjs").Solve} solve @param {Agent} agent
 * @param {World} world @param {Who} who
 */
async function run(task, solve, agent, world, who) {
  let problem = "The result is wrong.";
  try {
    const said = Array.isArray(solve) ? await agent.one(solve) : await solve(agent, world);
    if (await task.check(world, said ?? "")) return true;
  } catch (error) {
    problem = String(error);
  }
  process.stderr.write(`${who}, ${task.name}: ${problem.slice(0, 500)}\n`);
  return false;
}

/** What calls a server and counts what they cost. */
export class Agent {
  calls = 0;
  chars = 0;
  /** Our server's id of the last change. */
  change = "";

  /** @param {RawClient} client @param {string} root */
  constructor(client, root) {
    this.client = client;
    this.root = root;
  }

  /** Arguments and answers. */
  get tokens() {
    return this.chars / CHARS_PER_TOKEN;
  }

  /** The absolute path. @param {string[]} parts */
  at(...parts) {
    return join(this.root, ...parts);
  }

  /** Calls a tool; resolves with the text of its answer, also if that is an error. @param {string} tool @param {object} args */
  async try(tool, args) {
    const result = await this.client.request("tools/call", { name: tool, arguments: args });
    /** @type {{ text?: string }[]} */
    const content = result.content ?? [];
    const text = content.map((block) => block.text ?? "").join("\n");
    this.change = /Change ([\w-]+)/.exec(text)?.[1] ?? this.change;
    this.calls += 1;
    this.chars += tool.length + JSON.stringify(args).length + text.length;
    if (process.env["REFMCP_DAILY"])
      process.stderr.write(`> ${tool} ${JSON.stringify(args).slice(0, 300)}\n${text.slice(0, 600)}\n`);
    return { text, failed: result.isError === true };
  }

  /** The same; rejects if the tool failed. @param {string} tool @param {object} args */
  async call(tool, args) {
    const { text, failed } = await this.try(tool, args);
    if (failed) throw new Error(`${tool}: ${text}`);
    return text;
  }

  /** A solution with one call, or one shell command in a folder. @param {import("./daily/world.mjs").One} one */
  one([first, second]) {
    if (typeof second === "string") return this.sh(first, second);
    const args = JSON.stringify(second).replaceAll('"~', `"${this.root}`);
    return this.call(first, JSON.parse(args));
  }

  /** All pages of a list of our server. @param {string} tool @param {object} args */
  async pages(tool, args) {
    let text = await this.call(tool, args);
    for (let page = text; ; text += `\n${page}`) {
      const cursor = /cursor="([^"]+)"/.exec(page)?.[1];
      if (cursor === undefined) return text;
      page = await this.call(tool, { ...args, cursor });
    }
  }

  /** Runs a shell command of Desktop Commander in a folder; resolves with its output. @param {string} folder @param {string} line */
  async sh(folder, line) {
    const text = await this.call("start_process", {
      command: `cd '${this.at(folder)}' && ${line}`,
      timeout_ms: 60_000,
    });
    return text.slice(text.indexOf("\n", text.indexOf("Initial output:")) + 1);
  }
}

/**
 * @param {Record<string, Partial<Record<Who, Cost>>>} costs @param {Record<string, number>} lists
 * @returns {import("../../../scripts/lib/bench-kit.mjs").Table}
 */
function table(costs, lists) {
  /** @type {Who[]} */
  const all = ["official", "commander", "ours"];
  const names = Object.keys(costs);
  /** @param {string} name @param {Who} who */
  const done = (name, who) => typeof costs[name]?.[who] === "object";
  /** @param {Cost | undefined} cost */
  const cells = (cost) =>
    typeof cost === "object" ? [figure0(cost.calls), figure0(cost.tokens)] : [cost ?? "–", cost ?? "–"];
  /** @param {string} what @param {Who} by the tasks that this server completes */
  const total = (what, by) => {
    const common = names.filter((name) => done(name, by) && done(name, "ours"));
    const sums = all.flatMap((who) => {
      if (who !== "ours" && who !== by) return ["", ""];
      const list = common.map((name) => costs[name]?.[who]).filter((cost) => typeof cost === "object");
      return [
        list.reduce((sum, { calls }) => sum + calls, 0),
        list.reduce((sum, { tokens }) => sum + tokens, 0),
      ].map(figure0);
    });
    return [`**${what} (${common.length})**`, ...sums];
  };
  return {
    title: `${names.length} tasks`,
    columns: ["", "official: calls", "tokens", "Desktop Commander: calls", "tokens", "ours: calls", "tokens"],
    rows: [
      ...names.map((name) => [name, ...all.flatMap((who) => cells(costs[name]?.[who]))]),
      total("tasks that the official server and ours complete", "official"),
      total("tasks that Desktop Commander and ours complete", "commander"),
      [
        "**tasks completed**",
        ...all.flatMap((who) => [String(names.filter((name) => done(name, who)).length), ""]),
      ],
      [
        "the tool list, once for each conversation",
        ...all.flatMap((who) => ["", figure0(lists[who] ?? Number.NaN)]),
      ],
    ],
    notes: [
      `Tokens are the characters of arguments and answers / ${CHARS_PER_TOKEN}; every task begins in an unchanged folder. "–": the server has no tool for it, or would need more than a million tokens. "fails": it tries, and the result on the disk or in the answer is wrong.`,
      `The official server ${OFFICIAL} moves files one by one and passes contents through the model. Desktop Commander ${COMMANDER} mostly needs one shell command, which is the cheapest way if the user lets the model run any command: no command is confined to the folder, refused because it overwrites, or undone. It ran without a network.`,
      "The folder: 5,000 files of this machine (`REFMCP_MESSY` names other sources), with spaces, brackets, umlauts in both Unicode forms and copy numbers in their names and times over three years, and 800 files that tasks need: pictures, tables, students, contracts, mail, office files, a log of 60 MB.",
    ],
  };
}

/** 1234.5 → "1,235". @param {number} value */
const figure0 = (value) => (Number.isNaN(value) ? figure(value) : Math.round(value).toLocaleString("en-US"));
