import { realpathSync } from "node:fs";
import type { OptionTable } from "@refmcp/core";
import {
  type Option,
  type Program,
  run,
  type ServerOptions,
  serverOptions,
} from "@refmcp/core/run";
import { installed, type ServerName } from "./catalog.ts";
import { entryOf, fileText, guidanceOf } from "./hosts/entry.ts";
import { HOST_NAMES, HOSTS } from "./hosts/hosts.ts";

const printConfig: Option = {
  type: "enum",
  values: HOST_NAMES,
  env: false,
  valueName: "HOST",
  heading: "Common",
  description: `Print the configuration entry for a host, with the other options given, and exit; one of ${HOST_NAMES.slice(0, -1).join(", ")}, or json for any other.`,
};

/** The options of a program that prints the entry of a certain host instead of the common form. */
export function withHosts<Table extends OptionTable>(
  all: ServerOptions<Table>,
): ServerOptions<Table> {
  return { ...all, table: { ...all.table, printConfig } };
}

/** What `--print-config HOST` prints for a server: an entry that starts this file with this Node.js. */
export function hostEntryOf(name: string): NonNullable<Program<never, OptionTable>["entry"]> {
  return ({ args, env }, { values }) => {
    const host = HOSTS[HOST_NAMES.find((id) => id === values.printConfig) ?? "json"];
    const bin = realpathSync(process.argv[1] ?? "");
    const launch = { name, start: { command: process.execPath, args: [bin, ...args] }, env };
    const text = fileText(host, name, entryOf(host, launch));
    return { text, guidance: guidanceOf(host, launch, process.platform) };
  };
}

/**
 * Prints the entry of a single server for a host: `refmcp git ~/work --print-config vscode`. The process must already
 * have the server's file as its program.
 */
export async function printEntry(name: ServerName, argv: readonly string[]): Promise<void> {
  const { definition } = await installed(name, true);
  const options = withHosts(serverOptions(definition));
  await run(definition, { argv, program: { options, entry: hostEntryOf(definition.name) } });
}
