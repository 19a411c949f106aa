// What daily work with a folder of 5,000 files costs a model: calls and tokens, next to the official server and Desktop
// Commander. Each task is solved as a model that knows the server's tools would; its result is checked on the disk.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, peers, RawClient } from "../../../scripts/lib/bench-kit.mjs";
import { Agent as AnyAgent, dailyTable, wanted } from "../../../scripts/lib/daily-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";
import { makeFolder } from "./daily/folder.mjs";
import { tasks } from "./daily/tasks.mjs";
import { World } from "./daily/world.mjs";

/** @typedef {"official" | "commander" | "ours"} Who */
/** @typedef {import("../../../scripts/lib/daily-kit.mjs").Cost} Cost */

export const title = "daily tasks in a folder of 5,000 files, by calls and tokens";

const OFFICIAL = "2026.8.31";
const COMMANDER = "0.2.52";

const NOTES = [
  "Every task begins in an unchanged folder.",
  `The official server ${OFFICIAL} moves files one by one and passes contents through the model. Desktop Commander ${COMMANDER} mostly needs one shell command, which is the cheapest way if the user lets the model run any command: no command is confined to the folder, refused because it overwrites, or undone. It ran without a network.`,
  "The folder: 5,000 files of this machine (`REFMCP_MESSY` names other sources), with spaces, brackets, umlauts in both Unicode forms and copy numbers in their names and times over three years, and 800 files that tasks need: pictures, tables, students, contracts, mail, office files, a log of 60 MB.",
];

// Desktop Commander reports its use to its makers: it gets no network here.
const OFFLINE = `const { Socket } = require("node:net");
Socket.prototype.connect = function () { process.nextTick(() => this.destroy(new Error("offline"))); return this; };`;

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  if (process.platform === "win32")
    return "Desktop Commander's solutions are written for a POSIX shell";
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
    /** @type {Partial<Record<Who, number>>} */
    const lists = {};
    for (const who of /** @type {Who[]} */ (Object.keys(argv))) {
      await restore(original, root);
      const client = new RawClient([process.execPath, ...argv[who]], { cwd: root, env });
      clients.push(client);
      await client.initialize();
      const agent = new Agent(client, root);
      lists[who] = await agent.listTokens();
      let clean = true;
      for (const task of tasks.filter(wanted)) {
        const solve = task[who];
        costs[task.name] ??= {};
        if (solve === undefined) continue;
        if (!clean && !task.follows) await restore(original, root);
        clean = task.changes !== true;
        const world = new World(root, original);
        const cost = await agent.cost(`${who}, ${task.name}`, async () => {
          const said = Array.isArray(solve) ? await agent.one(solve) : await solve(agent, world);
          return task.check(world, said ?? "");
        });
        costs[task.name] = { ...costs[task.name], [who]: cost };
      }
      await client.close();
    }
    const labels = {
      official: "the official server",
      commander: "Desktop Commander",
      ours: "ours",
    };
    report(dailyTable(labels, costs, lists, NOTES));
    return undefined;
  } finally {
    for (const client of clients) client.child.kill();
    await rm(top, { recursive: true, force: true });
  }
}

/** @param {string} original @param {string} root */
async function restore(original, root) {
  await command("find", [root, "-mindepth", "1", "-delete"]);
  await command("cp", ["-a", `${original}/.`, root]);
}

/** An agent that knows the folder. */
export class Agent extends AnyAgent {
  /** Our server's id of the last change. */
  change = "";

  /** @param {RawClient} client @param {string} root */
  constructor(client, root) {
    super(client);
    this.root = root;
  }

  /** The absolute path. @param {string[]} parts */
  at(...parts) {
    return join(this.root, ...parts);
  }

  /** @override @param {string} tool @param {object} args */
  async try(tool, args) {
    const answer = await super.try(tool, args);
    this.change = /Change ([\w-]+)/.exec(answer.text)?.[1] ?? this.change;
    return answer;
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
