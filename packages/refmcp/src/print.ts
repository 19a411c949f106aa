import { DirectoryAllowlist } from "@refmcp/boundary/directories";
import { Runtime } from "@refmcp/core/internal/bind/runtime";
import type { HostName } from "@refmcp/core/internal/define/common-options";
import type { OptionTable } from "@refmcp/core/internal/define/options";
import { createLog } from "@refmcp/core/internal/log";
import { describeServer } from "@refmcp/launch/internal/describe";
import { type HelpFacts, renderHelp, renderToolTable } from "@refmcp/launch/internal/help";
import { carryOptions, localCommand, renderHostEntry } from "@refmcp/launch/internal/host-entry";
import type { ServerOptions } from "@refmcp/launch/internal/options";
import type { OptionsRead } from "@refmcp/launch/internal/parse-options";
import { SERVER_NAMES } from "./catalog.ts";
import type { definitionOf } from "./definition.ts";
import type { ServerSettings } from "./settings.ts";

type Definition = ReturnType<typeof definitionOf>;

/** What follows the options in the help. */
const SECTIONS: HelpFacts["sections"] = {
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
  ],
};

/** The text for `--help`, `--version` or `--describe`. */
export async function printed(
  kind: "help" | "version" | "describe",
  definition: Definition,
  all: ServerOptions<OptionTable>,
  file: string | undefined,
): Promise<string> {
  if (kind === "version") return `${definition.packageName} ${definition.version}\n`;
  if (kind === "describe")
    return `${JSON.stringify(await describeServer(definition, all.table), undefined, 2)}\n`;
  const bin = localCommand(file)?.args[0];
  return renderHelp({ ...definition, all, bin, sections: SECTIONS }, process.stdout.columns);
}

/** This program's entry for a host, with the options that were given. */
export function hostEntryOf(
  host: HostName,
  definition: Definition,
  { server, table }: ServerOptions<OptionTable>,
  given: OptionsRead<OptionTable>,
  bin: string | undefined,
) {
  return renderHostEntry(host, definition, carryOptions(server, table, given, process.platform), {
    bin,
  });
}

/** The tools that are offered, server by server. */
export function toolTables(settings: readonly ServerSettings[]): string {
  const log = createLog("refmcp", "error");
  const allowed = new DirectoryAllowlist({ configured: [], mode: "off" });
  return settings
    .map(({ server, options }) => {
      const { tools } = new Runtime(server.definition, { options, allowed, log });
      return `${server.name}\n${renderToolTable(tools, process.stdout.columns)}`;
    })
    .join("\n");
}
