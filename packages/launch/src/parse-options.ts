import { parseArgs } from "node:util";
import type { OptionTable, OptionValues } from "@refmcp/core/internal/define/options";
import { shown, unexpectedArgument, unknownOption, unknownVariables } from "./option-errors.ts";
import { isRepeatable, type OptionEntry, optionEntries } from "./option-table.ts";
import {
  BadValue,
  defaultValues,
  type PathContext,
  readValue,
  splitArgument,
  splitVariable,
} from "./option-values.ts";

/** The process's arguments and environment. */
export interface Invocation {
  /** The arguments after the program: `process.argv.slice(2)`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: `process.cwd()`. */
  readonly cwd?: string;
  /** What `~` expands to. Default: the user's home directory. */
  readonly home?: string;
  /** Default: `process.platform`. */
  readonly platform?: NodeJS.Platform;
}

/** Where a value came from. */
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

export interface OptionsRefused {
  readonly ok: false;
  /** One or two sentences for stderr, without secrets; the process exits with code 2. */
  readonly message: string;
}

/** The texts that set one option; `variable` if they came from the environment. */
interface Given {
  readonly values: readonly unknown[];
  readonly variable?: string;
}

/** Ends parsing; the message is for the user. */
class BadOption extends Error {}

/**
 * Reads the options of a table from the command line and, if they are not set there, from the environment.
 *
 * Command line: `--flag value`, `--flag=value`, `--no-flag`, repeated or comma-separated lists, `--` before
 * positionals. Environment: `REFMCP_<SERVER>_<FLAG>`, then the option's further variables; empty values and
 * placeholders that a host did not fill in are ignored.
 */
export function parseOptions<Table extends OptionTable>(
  server: string,
  table: Table,
  invocation: Invocation,
): OptionsRead<Table> | OptionsRefused {
  const pathContext: PathContext = {
    cwd: invocation.cwd ?? process.cwd(),
    home: invocation.home,
    platform: invocation.platform ?? process.platform,
  };
  const entries = optionEntries(server, table);
  const warnings: string[] = [];
  const values: Record<string, unknown> = {};
  const sources: Record<string, OptionSource> = {};
  const variables = new Map<string, string>();
  try {
    const texts = readArguments(entries, invocation.argv);
    for (const entry of entries) {
      const { key, option } = entry;
      const written = texts.get(entry);
      const given =
        written === undefined
          ? readVariables(entry, invocation.env, pathContext, warnings)
          : { values: readAll(`Option --${entry.flag}`, entry, written, pathContext) };
      sources[key] = given === undefined ? "default" : written === undefined ? "environment" : "argument";
      if (given?.variable !== undefined) variables.set(key, given.variable);
      const list = given?.values ?? defaultValues(option, pathContext);
      values[key] = isRepeatable(option) ? list : list[0];
    }
  } catch (error) {
    if (error instanceof BadOption) return { ok: false, message: error.message };
    throw error;
  }
  warnings.push(...unknownVariables(server, entries, invocation.env));
  return {
    ok: true,
    // TypeScript cannot follow a loop over the table's keys, hence the cast.
    values: values as OptionValues<Table>,
    sources: sources as OptionsRead<Table>["sources"],
    variables,
    warnings,
  };
}

/** Splits the command line into tokens: flags, their values, and other words. */
export function tokensOf(entries: readonly OptionEntry[], argv: readonly string[]) {
  const options = entries.map(({ flag, option }) => {
    return [flag, { type: option.type === "flag" ? "boolean" : "string" }] as const;
  });
  return parseArgs({
    args: [...argv],
    options: Object.fromEntries(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  }).tokens;
}

/** The texts that set each option on the command line; for a list, its items. */
function readArguments(entries: readonly OptionEntry[], argv: readonly string[]): Map<OptionEntry, string[]> {
  const texts = new Map<OptionEntry, string[]>();
  const give = (entry: OptionEntry, ...more: string[]) =>
    void texts.set(entry, [...(texts.get(entry) ?? []), ...more]);
  const byFlag = new Map(entries.map((entry) => [entry.flag, entry]));
  const positional = entries.find((entry) => entry.option.positional === true);
  let last: OptionEntry | undefined;
  for (const token of tokensOf(entries, argv)) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      if (positional === undefined) throw new BadOption(unexpectedArgument(token.value, last, entries));
      give(positional, ...itemsOf(positional, token.value));
      continue;
    }
    const entry = token.rawName.startsWith("--") ? byFlag.get(token.name) : undefined;
    const negated = token.name.startsWith("no-") ? byFlag.get(token.name.slice(3)) : undefined;
    if (entry?.option.type === "flag") give(entry, token.value ?? "true");
    else if (entry !== undefined) give(entry, ...itemsOf(entry, argumentValue(entry, token)));
    else if (negated?.option.type === "flag" && token.value === undefined) give(negated, "false");
    else throw new BadOption(unknownOption(argv[token.index] ?? token.rawName, entries));
    last = entry;
  }
  return texts;
}

function argumentValue(
  { flag, valueName }: OptionEntry,
  token: { readonly value?: string | undefined; readonly inlineValue?: boolean | undefined },
): string {
  if (token.value === undefined)
    throw new BadOption(`Option --${flag} needs a value: --${flag} ${valueName}.`);
  if (token.inlineValue === false && /^-\D/.test(token.value))
    throw new BadOption(
      `Option --${flag} needs a value, but the next argument starts with a dash. Write such a value as --${flag}=${valueName}.`,
    );
  return token.value;
}

function itemsOf({ option }: OptionEntry, text: string): string[] {
  const items = splitArgument(option, text);
  return items.length === 0 ? [""] : items;
}

/** The first of an option's variables that has a value. Warns about placeholders that a host left in. */
function readVariables(
  entry: OptionEntry,
  env: Invocation["env"],
  pathContext: PathContext,
  warnings: string[],
): Given | undefined {
  for (const variable of entry.variables) {
    const text = env[variable];
    if (text === undefined || text.trim() === "") continue;
    const where = `Environment variable ${variable}`;
    if (!isPlaceholder(entry, text)) {
      const isList = isRepeatable(entry.option);
      const texts = isList ? splitVariable(entry.option, text, pathContext.platform) : [text];
      return { variable, values: readAll(where, entry, texts, pathContext) };
    }
    warnings.push(`${where} is ignored: its value is a placeholder that the host did not fill in.`);
  }
  return undefined;
}

/** Whether a host passed on its own placeholder because it had no value: `${input:token}`, `$TOKEN`, `<paste …>`. */
function isPlaceholder({ option, variables }: OptionEntry, text: string): boolean {
  const trimmed = text.trim();
  if (/^\$\{[^}]*\}$/.test(trimmed)) return true;
  if ((option.type === "directory" || option.type === "file") && trimmed.startsWith(`\${`)) return true;
  if (option.type === "secret" && /^<.*>$/.test(trimmed)) return true;
  return variables.some((variable) => trimmed === `$${variable}` || trimmed === `%${variable}%`);
}

/** The values of an option's texts without duplicates; at most one unless the option is repeatable. */
function readAll(
  where: string,
  entry: OptionEntry,
  texts: readonly string[],
  pathContext: PathContext,
): readonly unknown[] {
  const { option, flag } = entry;
  const values = texts.map((text) => readOne(where, entry, text, pathContext));
  if (option.named === "unique") {
    const names = values.map((value) => (typeof value === "object" && "name" in value ? value.name : ""));
    const again = names.find((name, index) => names.indexOf(name) !== index);
    if (again !== undefined) throw new BadOption(`${where} has the name ${shown(again)} twice.`);
  }
  if (isRepeatable(option)) return [...new Set(values)];
  const different = new Map(values.map((value) => [String(value), value]));
  if (different.size <= 1) return [...different.values()];
  if (option.type === "flag")
    throw new BadOption(`${where} is both on and off; use either --${flag} or --no-${flag}.`);
  const both = option.type === "secret" ? "" : `: ${[...different.keys()].map(shown).join(" and ")}`;
  throw new BadOption(`${where} takes one value, but got ${different.size} different ones${both}.`);
}

function readOne(where: string, entry: OptionEntry, text: string, pathContext: PathContext) {
  const { option } = entry;
  if (text === "") throw new BadOption(`${where} needs a value, but is empty.`);
  if (isPlaceholder(entry, text))
    throw new BadOption(
      `${where} is the placeholder ${shown(text)}, which the host should have replaced with a value.`,
    );
  try {
    return readValue(option, text, pathContext);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const end = error.message.endsWith("?") ? "" : ".";
    if (option.type !== "secret")
      throw new BadOption(`${where} is ${shown(text)}; it ${error.message}${end}`);
    const secret = option.named === undefined ? text : text.slice(text.indexOf("=") + 1).trim();
    const problem = secret === "" ? error.message : error.message.replaceAll(secret, "…");
    throw new BadOption(`${where} ${problem}; the value given is not shown.`);
  }
}
