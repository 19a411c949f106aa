import type { OptionTable } from "@refmcp/core";
import { createLog, type Program, type Runtime, run, runtimeOf, serviceOf } from "@refmcp/core/run";
import { allInstalled, SERVER_NAMES } from "./catalog.ts";
import {
  allOptions,
  chosenServers,
  divideEnvironment,
  type options,
  optionsOf,
} from "./options.ts";
import { hostEntryOf, withHosts } from "./print-entry.ts";
import { server } from "./server.ts";
import { joinServices, type Part } from "./service.ts";
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
    ["call TOOL [arguments]", "Call a tool; call --help shows how."],
    ["tools [TOOL]", "List the tools, or show the arguments of one."],
  ],
};

/** A server of this process. */
interface Running extends Part {
  readonly runtime: Runtime<unknown, OptionTable>;
  /** The beginning of the URLs of its code. */
  readonly folder: string;
}

/**
 * Serves all servers as one in this process until the client disconnects or a signal arrives, or prints what the options
 * ask for.
 */
export async function serve(argv: readonly string[]): Promise<void> {
  const installed = await allInstalled(argv, process.env);
  const servers: Running[] = [];
  const load = async () => {
    const { server } = await import("./find-tools.ts");
    const { ToolIndex } = await import("./tool-index.ts");
    return { ...server, open: () => new ToolIndex(servers) };
  };
  const program: Program<ToolIndex, typeof options> = {
    options: withHosts(allOptions(installed)),
    sections: SECTIONS,
    entry: hostEntryOf(server.name),
    async serve(own, start, read) {
      const wanted = chosenServers(installed, read);
      if (typeof wanted === "string") return wanted;
      const service = serviceOf(own);
      const environment = divideEnvironment(wanted, process.env);
      // Child processes that inherit the environment do not get them either.
      for (const name of environment.secrets) delete process.env[name];
      for (const installation of wanted) {
        const { name, definition, folder } = installation;
        const { options, sources } = optionsOf(installation, start);
        const log = createLog(`refmcp-${name}`, options.logLevel);
        const env = environment.of(name);
        const runtime = await runtimeOf(definition, { ...start, options, sources, env, log });
        if (typeof runtime === "string") return `${name}: ${runtime}`;
        const isChosen = options.toolsets.length > 0 || options.tools.length > 0;
        const isListed = !start.options.findTools || isChosen;
        servers.push({
          name,
          runtime,
          service: serviceOf(runtime, service.tasks),
          isListed,
          folder,
        });
      }
      const tools = servers.flatMap(({ runtime }) => runtime.tools);
      const names = tools.map(({ name }) => name);
      const repeated = names.find((name, index) => names.indexOf(name) !== index);
      if (repeated !== undefined)
        return `Two servers have a tool ${repeated}. Serve one of them alone.`;
      const program = { name: "refmcp", runtime: own, service, isListed: true };
      return {
        service: joinServices(program, servers, start.options.findTools),
        tools,
        close: async () => {
          await Promise.all(
            [own, ...servers.map(({ runtime }) => runtime)].map((runtime) => runtime.close()),
          );
        },
        recover: (error) => recover(servers, error),
      };
    },
  };
  await run({ ...server, load }, { argv, program });
}

/**
 * Handles an error that nothing caught. It may have left something half done in the server that it comes from, so that
 * server closes what it has open, and opens it again at its next call. The calls of the others go on.
 *
 * @returns whether the process can go on: not after an error of the program's own code.
 */
function recover(servers: readonly Running[], error: unknown): boolean {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const failed = servers.find(({ folder }) => stack.includes(folder));
  failed?.runtime.reset().catch((thrown: unknown) => failed.service.log.error(String(thrown)));
  return failed !== undefined || !stack.includes(new URL(".", import.meta.url).href);
}
