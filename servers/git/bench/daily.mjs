// What daily work with a large repository costs a model: calls, tokens and time, next to @cyanheads/git-mcp-server. Each task is
// solved as a model that knows the server's tools would; its result is checked with git.
//
//   REFMCP_CORPORA=FOLDER pnpm bench git/daily   (with a clone of git/git in FOLDER/git)
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command, peers, RawClient } from "../../../scripts/lib/bench-kit.mjs";
import { Agent, dailyTable, wanted } from "../../../scripts/lib/daily-kit.mjs";
import { ROOT } from "../../../scripts/lib/setup.mjs";
import { START, tasks, World } from "./daily/tasks.mjs";

/** @typedef {"cyanheads" | "ours"} Who */
/** @typedef {import("../../../scripts/lib/daily-kit.mjs").Cost} Cost */

export const title = "daily tasks in git/git, by calls and tokens";

const CYANHEADS = "2.15.3";

/** @param {{ report: import("../../../scripts/lib/bench-kit.mjs").Report }} harness */
export async function bench({ report }) {
  const corpus = join(process.env["REFMCP_CORPORA"] ?? "", "git");
  if (!existsSync(join(corpus, ".git"))) return "REFMCP_CORPORA has no clone of git/git";
  const top = await mkdtemp(join(tmpdir(), "daily-git-"));
  try {
    const at = await peers({ "@cyanheads/git-mcp-server": CYANHEADS });
    const home = join(top, "home");
    const root = join(top, "repo");
    const saved = join(top, "saved");
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
    /** @type {Record<Who, string[]>} */
    const argv = {
      cyanheads: [at("@cyanheads/git-mcp-server/dist/index.js")],
      ours: [
        join(ROOT, "servers/git/dist/bin.js"),
        root,
        "--toolsets",
        "all",
        "--confirm",
        "never",
      ],
    };
    const world = new World(root, env);
    await command("git", ["clone", "-q", "--no-checkout", corpus, root], { env });
    await world.git("fetch", "-q", corpus, "+refs/remotes/origin/*:refs/remotes/origin/*");
    await world.git("config", "user.name", "A");
    await world.git("config", "user.email", "a@example.com");
    await world.git("checkout", "-q", "-B", "main", START);
    await replaceState(join(root, ".git"), saved);
    /** @type {Record<string, Partial<Record<Who, Cost>>>} */
    const costs = {};
    /** @type {Partial<Record<Who, number>>} */
    const lists = {};
    for (const task of tasks.filter(wanted)) {
      /** @type {Partial<Record<Who, Cost>>} */
      const cost = {};
      costs[task.name] = cost;
      for (const who of /** @type {Who[]} */ (Object.keys(argv))) {
        const solve = task[who];
        if (solve === undefined) continue;
        await replaceState(saved, join(root, ".git"));
        await world.git("reset", "-q", "--hard");
        await world.git("clean", "-qffdx");
        await task.given?.(world);
        const client = new RawClient([process.execPath, ...argv[who]], { cwd: root, env });
        try {
          await client.initialize();
          const agent = new Agent(client, who === "cyanheads" ? { path: root } : {});
          lists[who] ??= await agent.listTokens();
          // Opens the repository; how long that takes is in another benchmark.
          await agent.call("git_status", {});
          cost[who] = await agent.cost(`${who}, ${task.name}`, async () => {
            if (typeof solve === "function") await solve(agent, world);
            else for (const [tool, args] of solve) await agent.call(tool, args);
            // An answer in JSON says the same as one in plain text.
            return task.check(world, agent.read.replaceAll('\\"', '"'));
          });
        } finally {
          await client.close();
        }
      }
    }
    const labels = { cyanheads: "cyanheads", ours: "ours" };
    report(
      dailyTable(labels, costs, lists, [
        `Every task begins in the same clone of git/git at ${START}, with a new process of the server and, before it, one call of git_status, which is not counted. The peer is @cyanheads/git-mcp-server ${CYANHEADS}; ours has all its tools.`,
      ]),
    );
    return undefined;
  } finally {
    await rm(top, { recursive: true, force: true });
  }
}

/** Makes the state of a git directory, which is all but its objects, equal to that of another. @param {string} from @param {string} to */
async function replaceState(from, to) {
  await mkdir(to, { recursive: true });
  const isState = (/** @type {string} */ name) => name !== "objects";
  for (const name of (await readdir(to)).filter(isState))
    await rm(join(to, name), { recursive: true });
  const options = { recursive: true, preserveTimestamps: true };
  for (const name of (await readdir(from)).filter(isState))
    await cp(join(from, name), join(to, name), options);
}
