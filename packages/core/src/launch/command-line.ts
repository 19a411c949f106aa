import type { CommonOptionValues, HostName } from "../define/common-options.ts";
import type { OptionTable, OptionValues } from "../define/options.ts";
import type { ServerOptions } from "./option-table.ts";
import { type Invocation, type OptionSource, type OptionsRead, parseOptions } from "./parse-options.ts";

/** A server's options with where they came from and what was ignored. */
export interface ServerOptionsRead<Table extends OptionTable> {
  readonly options: OptionValues<Table> & CommonOptionValues;
  /** Where the value of an option came from; `default` for one that the server does not have. */
  source(key: string): OptionSource;
  /** Sentences for stderr. */
  readonly warnings: readonly string[];
  /** The same as it was read, for a host's entry to carry on. */
  readonly given: OptionsRead<OptionTable>;
}

/** What the user wants of the process. */
export type CommandLine<Table extends OptionTable> =
  | ({ readonly kind: "serve" | "list-tools" } & ServerOptionsRead<Table>)
  | ({ readonly kind: "print-config"; readonly host: HostName } & ServerOptionsRead<Table>)
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "describe" }
  /** For stderr, with exit code 2. */
  | { readonly kind: "error"; readonly message: string };

/**
 * Reads the command line and the environment of a server process.
 *
 * `--help` and `--version` win over everything, so that they work despite a mistake.
 */
export function parseCommandLine<Table extends OptionTable>(
  all: ServerOptions<Table>,
  invocation: Invocation,
): CommandLine<Table> {
  const end = invocation.argv.indexOf("--");
  const words = end < 0 ? invocation.argv : invocation.argv.slice(0, end);
  if (words.includes("--help") || words.includes("-h")) return { kind: "help" };
  if (words.includes("--version") || words.includes("-v")) return { kind: "version" };
  const given = parseOptions(all.server, all.table, invocation);
  if (!given.ok) return { kind: "error", message: given.message };
  // What a server without directories lacks, so that every server's options look alike.
  const absent = { directories: [], clientRoots: "off" };
  // `serverOptions` joined the two tables at run time; only here do their types meet again.
  const values: unknown = { ...absent, ...given.values };
  const options = values as OptionValues<Table> & CommonOptionValues;
  const { sources, warnings } = given;
  const read = { options, source: (key: string) => sources[key] ?? "default", warnings, given };
  if (options.printConfig !== undefined) return { kind: "print-config", host: options.printConfig, ...read };
  if (options.describe) return { kind: "describe" };
  return { kind: options.listTools ? "list-tools" : "serve", ...read };
}
