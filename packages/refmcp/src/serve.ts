import { realpathSync } from "node:fs";
import { DirectoryAllowlist } from "@refmcp/boundary/directories";
import { Runtime } from "@refmcp/core/internal/bind/runtime";
import { bind } from "@refmcp/core/internal/bind/server";
import { createLog } from "@refmcp/core/internal/log";
import type { Listener } from "@refmcp/core/internal/protocol/request";
import { protectStdout, StdioServer } from "@refmcp/core/internal/transport/stdio/stdio";
import { serverOptions } from "@refmcp/launch/internal/options";
import { parseCommandLine, parseOptions } from "@refmcp/launch/internal/parse-options";
import { installShutdown } from "@refmcp/launch/internal/shutdown";
import { installed, SERVER_NAMES } from "./catalog.ts";
import { definitionOf } from "./definition.ts";
import { Peer } from "./peer.ts";
import { serviceOf } from "./service.ts";
import { allOptions, complete, settingsOf } from "./settings.ts";

/** How long ending the servers may take longer than ending this process alone. */
const SERVERS_MS = 1_500;

/**
 * Serves all servers over stdin and stdout until the client disconnects or a signal arrives, or prints what the options
 * ask for.
 */
export async function serve(argv: readonly string[]): Promise<void> {
  const stdout = protectStdout();
  const servers = SERVER_NAMES.map(installed);
  const all = allOptions(servers);
  const command = parseCommandLine(all, { argv, env: process.env });
  const peers: Peer[] = [];
  const findsTools = "given" in command && command.given.values.findTools === true;
  const definition = definitionOf(findsTools, async () => {
    const { ToolIndex } = await import("./tool-index.ts");
    return new ToolIndex(peers);
  });
  if (command.kind === "error") return refuse(command.message);
  if (command.kind === "help" || command.kind === "version" || command.kind === "describe") {
    const { printed } = await import("./print.ts");
    stdout.write(await printed(command.kind, definition, all, ownFile()));
    return;
  }
  const { options, given } = command;
  const settings = settingsOf(servers, given, process.env);
  if (typeof settings === "string") return refuse(settings);
  if (command.kind === "print-config" && options.printConfig !== undefined) {
    const { hostEntryOf } = await import("./print.ts");
    const { entryWarnings } = await import("@refmcp/launch/internal/prepare");
    const { text, guidance } = hostEntryOf(options.printConfig, definition, all, given, ownFile());
    process.stderr.write((await entryWarnings(definition, all.table, given.values)) + guidance);
    stdout.write(text);
    return;
  }
  if (command.kind === "list-tools") {
    const { toolTables } = await import("./print.ts");
    stdout.write(toolTables(settings));
    return;
  }
  const log = createLog("refmcp", options.logLevel);
  for (const warning of given.warnings) log.warning(warning);
  const listeners = new Set<Listener>();
  const events = {
    changed: (uri: string) => listeners.forEach((listener) => void listener.changed(uri)),
    resourcesChanged: () => listeners.forEach((listener) => void listener.resourcesChanged()),
  };
  peers.push(...settings.map((one) => new Peer(one, log, events)));
  const defaults = parseOptions("", serverOptions(definition).table, { argv: [], env: {} });
  if (!defaults.ok) return refuse(defaults.message);
  const runtime = new Runtime(definition, {
    options: { ...complete(defaults.values), ...options },
    allowed: new DirectoryAllowlist({ configured: [], mode: "off" }),
    log,
  });
  const service = serviceOf({
    own: bind(runtime),
    findsTools,
    peers,
    listeners,
    log,
    limits: options,
  });
  const server = new StdioServer(service, {
    input: process.stdin,
    output: stdout,
    maxLineBytes: options.maxMessageBytes,
    note: (line) => log.warning(line),
    onEnd: ({ reason, since }) => shutdown.begin(reason, since),
  });
  const shutdown = installShutdown({
    log,
    transportMs: SERVERS_MS,
    async close() {
      await server.close();
      service.tasks.close();
      await Promise.all(peers.map((peer) => peer.close()));
    },
  });
}

function refuse(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 2;
}

/** The file that node runs, with links resolved. */
function ownFile(): string | undefined {
  try {
    return realpathSync(process.argv[1] ?? "");
  } catch {
    return undefined;
  }
}
