import { parseArgs } from "node:util";
import type { CommonOptionValues } from "../define/common-options.ts";
import type { OptionTable, OptionValues } from "../define/options.ts";
import {
  quoteValue,
  unexpectedArgument,
  unknownOption,
  unknownVariables,
} from "./option-messages.ts";
import {
  BadValue,
  defaultValues,
  isRepeatable,
  items,
  type OptionEntry,
  optionEntries,
  type PathContext,
  readValue,
  type ServerOptions,
  separator,
  splitsAtCommas,
} from "./options.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The process's arguments and environment; what is missing is the process's own. */
export interface Invocation extends Partial<PathContext> {
  /** The arguments after the program: `process.argv.slice(2)`. */
  readonly argv: readonly string[];
  readonly env: Env;
}

export type OptionSource = "argument" | "environment" | "default";

export interface OptionsRead<Table extends OptionTable> {
  readonly ok: true;
  readonly values: OptionValues<Table>;
  readonly sources: { readonly [Key in keyof Table]: OptionSource };
  /** The environment variable that each value came from, by key. */
  readonly variables: ReadonlyMap<string, string>;
  /** Sentences for stderr about ignored input, without secrets. */
  readonly warnings: readonly string[];
}

/** Ends parsing; the message is for the user. */
class BadOption extends Error {}

/**
 * Reads the options of a table from the command line and, if they are not set there, from the environment.
 *
 * Command line: `--flag value`, `--flag=value`, `--no-flag`, repeated or comma-separated lists, `--` before
 * positionals. Environment: `REFMCP_<SERVER>_<FLAG>`, then the option's further variables; empty values and
 * placeholders that a host did not fill in are ignored.
 *
 * @returns `message`, for stderr and without secrets, if an option is wrong.
 */
export function parseOptions<Table extends OptionTable>(
  server: string,
  table: Table,
  { argv, env, ...pathOverrides }: Invocation,
): OptionsRead<Table> | { readonly ok: false; readonly message: string } {
  const pathContext = { cwd: process.cwd(), platform: process.platform, ...pathOverrides };
  const entries = optionEntries(server, table);
  const warnings: string[] = [];
  const values: Record<string, unknown> = {};
  const sources: Record<string, OptionSource> = {};
  const variables = new Map<string, string>();
  try {
    const argumentTexts = readArguments(entries, argv);
    for (const entry of entries) {
      const { key, option, flag } = entry;
      const texts = argumentTexts.get(entry);
      const variable = texts === undefined ? variableOf(entry, env, warnings) : undefined;
      let list: readonly unknown[] = [];
      if (texts !== undefined) {
        sources[key] = "argument";
        list = readAll(`Option --${flag}`, entry, texts, pathContext);
      } else if (variable !== undefined) {
        sources[key] = "environment";
        variables.set(key, variable);
        const text = env[variable] ?? "";
        const delimiter = separator(option, pathContext.platform);
        const parts = isRepeatable(option) ? items(text, delimiter) : [text];
        list = readAll(`Environment variable ${variable}`, entry, parts, pathContext);
      } else {
        sources[key] = "default";
        list = defaultValues(option, pathContext);
      }
      values[key] = isRepeatable(option) ? list : list[0];
    }
  } catch (error) {
    if (error instanceof BadOption) return { ok: false, message: error.message };
    throw error;
  }
  warnings.push(...unknownVariables(server, entries, env));
  return {
    ok: true,
    // TypeScript cannot follow a loop over the table's keys, hence the cast.
    values: values as OptionValues<Table>,
    sources: sources as OptionsRead<Table>["sources"],
    variables,
    warnings,
  };
}

export type CommandLine<Table extends OptionTable> =
  | {
      readonly kind: "serve" | "print-config";
      readonly options: OptionValues<Table> & CommonOptionValues;
      /** The same with the source of each value, and what was ignored. */
      readonly parsedOptions: OptionsRead<OptionTable>;
    }
  | { readonly kind: "help" | "http-help" | "version" | "describe" }
  /** For stderr, with exit code 2. */
  | { readonly kind: "error"; readonly message: string };

/**
 * Reads the command line and the environment of a server process.
 *
 * `--help`, `--version` and `--describe` (for generators: everything that the server offers, as JSON) take precedence, so
 * they work even if another argument is wrong.
 */
export function parseCommandLine<Table extends OptionTable>(
  allOptions: ServerOptions<Table>,
  invocation: Invocation,
): CommandLine<Table> {
  const end = invocation.argv.indexOf("--");
  const words = end < 0 ? invocation.argv : invocation.argv.slice(0, end);
  const help = words.findIndex((word) => word === "--help" || word === "-h");
  if (help >= 0) return { kind: words[help + 1] === "http" ? "http-help" : "help" };
  if (words[0] === "help") return { kind: "help" };
  if (words.includes("--version") || words.includes("-v")) return { kind: "version" };
  if (words.includes("--describe")) return { kind: "describe" };
  const parsedOptions = parseOptions(allOptions.server, allOptions.table, invocation);
  if (!parsedOptions.ok) return { kind: "error", message: parsedOptions.message };
  // Defaults for what a table lacks, so that the options of all servers have the same shape.
  const empty = { directories: [], clientRoots: "off", toolsets: [], tools: [], excludeTools: [] };
  // `serverOptions` joined the two tables at run time, which TypeScript cannot follow.
  const values: unknown = { ...empty, ...parsedOptions.values };
  const options = values as OptionValues<Table> & CommonOptionValues;
  return { kind: options.printConfig ? "print-config" : "serve", options, parsedOptions };
}

/** The commands for people and scripts, which run instead of serving a host. */
const COMMANDS = ["call", "tools"] as const;

/** A command line with a command: `~/work --read-only call git_log max_count=5`. */
export interface ShellWords {
  /** The server's own options, before the command. */
  readonly options: readonly string[];
  readonly command: (typeof COMMANDS)[number];
  readonly rest: readonly string[];
}

/**
 * Finds the command in the arguments of a process: the first word that is a command's name and not the value of an
 * option. A directory with such a name is written `./call`.
 */
export function shellWords(
  { server, table }: ServerOptions<OptionTable>,
  argv: readonly string[],
): ShellWords | undefined {
  const commandOf = (word: string) => COMMANDS.find((name) => name === word);
  if (!argv.some(commandOf)) return undefined;
  for (const token of tokensOf(optionEntries(server, table), argv)) {
    if (token.kind === "option-terminator") return undefined;
    const command = token.kind === "positional" ? commandOf(token.value) : undefined;
    if (command === undefined) continue;
    return { options: argv.slice(0, token.index), command, rest: argv.slice(token.index + 1) };
  }
  return undefined;
}

/** Splits the command line into tokens: flags, their values, and other words. */
function tokensOf(entries: readonly OptionEntry[], argv: readonly string[]) {
  const options = entries.map(
    ({ flag, option }) => [flag, { type: option.type === "flag" ? "boolean" : "string" }] as const,
  );
  const settings = { strict: false, allowPositionals: true, tokens: true } as const;
  return parseArgs({ args: [...argv], options: Object.fromEntries(options), ...settings }).tokens;
}

/** The texts that set each option on the command line; for a list, its items. */
function readArguments(
  entries: readonly OptionEntry[],
  argv: readonly string[],
): Map<OptionEntry, string[]> {
  const texts = new Map<OptionEntry, string[]>();
  const add = (entry: OptionEntry, text: string) => {
    const parts = splitsAtCommas(entry.option) ? items(text, ",") : [text];
    const nonEmptyParts = parts.length === 0 ? [""] : parts;
    texts.set(entry, [...(texts.get(entry) ?? []), ...nonEmptyParts]);
  };
  const byFlag = new Map(entries.map((entry) => [entry.flag, entry]));
  const positional = entries.find((entry) => entry.option.positional === true);
  let last: OptionEntry | undefined;
  for (const token of tokensOf(entries, argv)) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      if (positional === undefined) throw new BadOption(unexpectedArgument(token.value, last));
      add(positional, token.value);
      continue;
    }
    const { value, inlineValue } = token;
    const entry = token.rawName.startsWith("--") ? byFlag.get(token.name) : undefined;
    const negated = token.name.startsWith("no-") ? byFlag.get(token.name.slice(3)) : undefined;
    if (entry?.option.type === "flag") add(entry, value ?? "true");
    else if (negated?.option.type === "flag" && value === undefined) add(negated, "false");
    else if (entry === undefined) throw new BadOption(unknownOption(token.rawName, entries));
    else if (value === undefined || (inlineValue === false && /^-\D/.test(value)))
      throw new BadOption(
        `Option --${entry.flag} needs a value: --${entry.flag}=${entry.valueName}.`,
      );
    else add(entry, value);
    last = entry;
  }
  return texts;
}

/** The first of an option's variables that has a value. Warns about placeholders that a host left in. */
function variableOf(entry: OptionEntry, env: Env, warnings: string[]): string | undefined {
  return entry.variables.find((variable) => {
    const text = env[variable] ?? "";
    if (text.trim() === "") return false;
    if (!isPlaceholder(entry, text)) return true;
    warnings.push(
      `Environment variable ${variable} is ignored: its value is a placeholder that the host did not fill in.`,
    );
    return false;
  });
}

/** Whether a host passed on its own placeholder because it had no value: `${input:token}`, `$TOKEN`, `<paste …>`. */
function isPlaceholder({ option, variables }: OptionEntry, text: string): boolean {
  const word = text.trim();
  const isPath = option.type === "directory" || option.type === "file";
  return (
    (isPath ? /^\$\{/ : /^\$\{[^}]*\}$/).test(word) ||
    (option.type === "secret" && /^<.*>$/.test(word)) ||
    variables.some((variable) => word === `$${variable}` || word === `%${variable}%`)
  );
}

/** The values of an option's texts without duplicates; at most one unless the option is repeatable. */
function readAll(
  where: string,
  entry: OptionEntry,
  texts: readonly string[],
  pathContext: PathContext,
): readonly unknown[] {
  const { option } = entry;
  const values = [...new Set(texts.map((text) => readOne(where, entry, text, pathContext)))];
  const names = values.flatMap((value) =>
    typeof value === "object" && "name" in value ? value.name : [],
  );
  if (option.named === "unique" && new Set(names).size < names.length)
    throw new BadOption(`${where} has a name twice.`);
  if (!isRepeatable(option) && new Set(values.map(String)).size > 1)
    throw new BadOption(`${where} takes one value, but got ${values.length} different ones.`);
  return values;
}

function readOne(where: string, entry: OptionEntry, text: string, pathContext: PathContext) {
  const { option } = entry;
  if (text === "") throw new BadOption(`${where} needs a value, but is empty.`);
  if (isPlaceholder(entry, text))
    throw new BadOption(
      `${where} is the placeholder ${quoteValue(text)}, which the host should have replaced with a value.`,
    );
  try {
    return readValue(option, text, pathContext);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const end = error.message.endsWith("?") ? "" : ".";
    if (option.type !== "secret")
      throw new BadOption(`${where} is ${quoteValue(text)}; it ${error.message}${end}`);
    const secret = option.named === undefined ? text : text.slice(text.indexOf("=") + 1).trim();
    const problem = secret === "" ? error.message : error.message.replaceAll(secret, "…");
    throw new BadOption(`${where} ${problem}; the value given is not shown.`);
  }
}
