import { createLog, type Program, run, runtimeOf, type Start, type Tasks } from "@refmcp/core/run";
import { allInstalled, type Installed, SERVER_NAMES } from "./catalog.ts";
import {
  allOptions,
  chosenServers,
  divideEnvironment,
  type options,
  optionsOf,
} from "./options.ts";
import { type Part, partOf } from "./part.ts";
import { hostEntryOf, withHosts } from "./print-entry.ts";
import { server } from "./server.ts";
import { joinServices } from "./service.ts";
import type { ToolIndex } from "./tool-index.ts";

/** What follows the options in the help. */
const SECTIONS: Program<ToolIndex, typeof options>["sections"] = {
  "Options of one server": [
    [
      "--SERVER.OPTION VALUE",
      "Any option of a server, with the server's name before it: --git.hooks off, --sqlite.allow-write. It overrides the same option without a name.",
    ],
  ],
  Commands: [
    [
      "SERVER [options]",
      `Run one server alone: git --help. Servers: ${SERVER_NAMES.join(", ")}. A directory with such a name is written ./git.`,
    ],
    ["call TOOL [arguments]", "Call a tool; call TOOL --help shows its arguments."],
    ["tools [TOOL]", "List the tools, or show the arguments of one."],
    ["read URI", "Print a resource."],
  ],
};

/**
 * Serves all servers as one in this process until the client disconnects or a signal arrives, or prints what the options
 * ask for.
 */
export async function serve(argv: readonly string[]): Promise<void> {
  const installed = await allInstalled(argv, process.env);
  const servers: Part[] = [];
  const open = async () => {
    const { ToolIndex } = await import("./tool-index.ts");
    return new ToolIndex(servers);
  };
  const program: Program<ToolIndex, typeof options> = {
    options: withHosts(allOptions(installed)),
    sections: SECTIONS,
    entry: hostEntryOf(server),
    async serve(runtime, start, given) {
      const chosen = chosenServers(installed, given);
      if (typeof chosen === "string") return chosen;
      const folder = new URL(".", import.meta.url).href;
      const own = partOf(runtime, { isListed: true, folder });
      const environment = divideEnvironment(chosen, process.env);
      // Child processes that inherit the environment do not get them either.
      for (const name of environment.secrets) delete process.env[name];
      for (const one of chosen) {
        const env = environment.of(one.name);
        const part = await partFor(one, { ...start, env }, own.service.tasks);
        if (typeof part === "string") return `${one.name}: ${part}`;
        servers.push(part);
      }
      const names = servers.flatMap(({ tools }) => tools.map(({ name }) => name));
      const repeated = names.find((name, index) => names.indexOf(name) !== index);
      if (repeated !== undefined)
        return `Two servers have a tool ${repeated}. Serve one of them alone.`;
      return {
        service: joinServices(own, servers, start.options.findTools),
        tools: servers.flatMap(({ tools }) => [...tools]),
        close: async () => void (await Promise.all([own, ...servers].map((part) => part.close()))),
        recover: (error) => recover(own, servers, error),
      };
    },
  };
  await run({ ...server, open }, { argv, program });
}

/** Creates one of the servers. @returns a message for the user if the options don't fit it. */
async function partFor(
  server: Installed,
  start: Start<typeof options>,
  tasks: Tasks,
): Promise<Part | string> {
  const own = optionsOf(server, start);
  const log = createLog(`refmcp-${server.name}`, own.options.logLevel);
  const runtime = await runtimeOf(server.definition, { ...start, ...own, log });
  if (typeof runtime === "string") return runtime;
  const isChosen = own.options.toolsets.length > 0 || own.options.tools.length > 0;
  const isListed = !start.options.findTools || isChosen;
  return partOf(runtime, { isListed, folder: server.folder }, tasks);
}

/**
 * Handles an error that nothing caught. It may have left something half done in the server that it comes from, so that
 * server closes what it has open, and opens it again at its next call. The calls of the others go on.
 *
 * @returns whether the process can go on: not after an error of the program's own code.
 */
function recover(own: Part, servers: readonly Part[], error: unknown): boolean {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const failed = servers.find(({ folder }) => stack.includes(folder));
  failed?.reset().catch((thrown: unknown) => failed.service.log.error(String(thrown)));
  return failed !== undefined || !stack.includes(own.folder);
}
