import { parseArgs } from "node:util";
import type { OptionTable, OptionValues } from "../define/options.ts";
import { strangeVariables, unexpectedArgument, unknownOption } from "./option-errors.ts";
import { isRepeatable, type OptionEntry, optionEntries } from "./option-table.ts";
import {
  defaultValues,
  readValue,
  type Surroundings,
  shown,
  splitArgument,
  splitVariable,
} from "./option-values.ts";

/** How the process was started. */
export interface Invocation {
  /** The arguments after the program: `process.argv.slice(2)`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: `process.cwd()`. */
  readonly cwd?: string;
  /** What `~` stands for. Default: the user's home directory. */
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
  /** The environment variable of each value that came from one, by key. */
  readonly variables: ReadonlyMap<string, string>;
  /** What was ignored, for stderr: sentences without secrets. */
  readonly warnings: readonly string[];
}

export interface OptionsRefused {
  readonly ok: false;
  /** One sentence or two for stderr, without secrets; the process exits with code 2. */
  readonly message: string;
}

/** What one option was given, before defaults. */
interface Given {
  readonly source: OptionSource;
  readonly variable?: string;
  readonly values: readonly unknown[];
}

/** Leaves the parser; the message is for the user. */
class BadOption extends Error {}

/**
 * Reads the options of a table from the command line and, for those not given there, from the environment.
 *
 * Command line: `--flag value`, `--flag=value`, `--no-flag`, repeated or comma-separated lists, `--` before
 * positionals. Environment: `REFMCP_<SERVER>_<FLAG>`, then the option's further variables; empty ones do not
 * count, nor do placeholders that a host did not fill in.
 */
export function parseOptions<Table extends OptionTable>(
  server: string,
  table: Table,
  invocation: Invocation,
): OptionsRead<Table> | OptionsRefused {
  const surroundings: Surroundings = {
    cwd: invocation.cwd ?? process.cwd(),
    home: invocation.home,
    platform: invocation.platform ?? process.platform,
  };
  const entries = optionEntries(server, table);
  const warnings: string[] = [];
  try {
    const given = readArguments(entries, invocation.argv, surroundings);
    for (const entry of entries) {
      if (given.has(entry.key)) continue;
      const found = readVariables(entry, invocation.env, surroundings, warnings);
      if (found !== undefined) given.set(entry.key, found);
    }
    warnings.push(...strangeVariables(server, entries, invocation.env));
    return { ok: true, ...collect<Table>(entries, given, surroundings), warnings };
  } catch (error) {
    if (error instanceof BadOption) return { ok: false, message: error.message };
    throw error;
  }
}

function readArguments(
  entries: readonly OptionEntry[],
  argv: readonly string[],
  surroundings: Surroundings,
): Map<string, Given> {
  const texts = new Map<OptionEntry, string[]>();
  const byFlag = new Map(entries.map((entry) => [entry.flag, entry]));
  const positional = entries.find((entry) => entry.option.positional === true);
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      entries.map(({ flag, option }) => [
        flag,
        { type: option.type === "flag" ? "boolean" : "string" } as const,
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  let last: OptionEntry | undefined;
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      if (positional === undefined) throw new BadOption(unexpectedArgument(token.value, last, entries));
      add(texts, positional, token.value);
      continue;
    }
    const entry = token.rawName.startsWith("--") ? byFlag.get(token.name) : undefined;
    const negated = entry ?? (token.name.startsWith("no-") ? byFlag.get(token.name.slice(3)) : undefined);
    if (entry?.option.type === "flag") {
      add(texts, entry, token.value ?? "true");
    } else if (entry !== undefined) {
      add(texts, entry, argumentValue(entry, token));
    } else if (negated?.option.type === "flag" && token.value === undefined) {
      add(texts, negated, "false");
    } else {
      throw new BadOption(unknownOption(argv[token.index] ?? token.rawName, entries));
    }
    last = entry;
  }
  const given = new Map<string, Given>();
  for (const [entry, list] of texts) {
    const where = `Option --${entry.flag}`;
    const split = isRepeatable(entry.option) ? list.flatMap((text) => splitOrRefuse(entry, text)) : list;
    const values = split.map((text) => readOrRefuse(where, entry, text, surroundings));
    given.set(entry.key, { source: "argument", values: arity(where, entry, values) });
  }
  return given;
}

function add(texts: Map<OptionEntry, string[]>, entry: OptionEntry, text: string): void {
  texts.set(entry, [...(texts.get(entry) ?? []), text]);
}

function argumentValue(
  { flag, valueName }: OptionEntry,
  token: { readonly value?: string | undefined; readonly inlineValue?: boolean | undefined },
): string {
  if (token.value === undefined)
    throw new BadOption(`Option --${flag} needs a value: --${flag} ${valueName}.`);
  if (token.inlineValue === false && /^-\D/.test(token.value)) {
    throw new BadOption(
      `Option --${flag} needs a value, but what follows begins with a dash. A value that does is written --${flag}=${valueName}.`,
    );
  }
  return token.value;
}

function splitOrRefuse(entry: OptionEntry, text: string): string[] {
  const split = splitArgument(entry.option, text);
  if (split.length === 0)
    throw new BadOption(`Option --${entry.flag} needs a value; it was given an empty one.`);
  return split;
}

function readOrRefuse(where: string, entry: OptionEntry, text: string, surroundings: Surroundings): unknown {
  const { option } = entry;
  if (text === "") throw new BadOption(`${where} needs a value; it was given an empty one.`);
  if (isPlaceholder(entry, text)) {
    throw new BadOption(
      `${where} is the placeholder ${shown(text)}, which the host was to replace by a value.`,
    );
  }
  const reading = readValue(option, text, surroundings);
  if ("value" in reading) return reading.value;
  const end = reading.problem.endsWith("?") ? "" : ".";
  if (option.type !== "secret")
    throw new BadOption(`${where} is ${shown(text)}; it ${reading.problem}${end}`);
  const secret = option.named === undefined ? text : text.slice(text.indexOf("=") + 1).trim();
  const problem = secret === "" ? reading.problem : reading.problem.replaceAll(secret, "…");
  throw new BadOption(`${where} ${problem}; the value given is not shown.`);
}

/** Holds the number of values against what the option takes; equal values count once. */
function arity(where: string, { option, flag }: OptionEntry, values: readonly unknown[]): readonly unknown[] {
  if (option.named === "unique") {
    const names = new Set<unknown>();
    for (const value of values) {
      const name = typeof value === "object" && value !== null && "name" in value ? value.name : undefined;
      if (names.has(name)) throw new BadOption(`${where} has the name ${shown(String(name))} twice.`);
      names.add(name);
    }
  }
  if (isRepeatable(option)) return [...new Set(values)];
  const different = new Map(values.map((value) => [String(value), value]));
  if (different.size <= 1) return [...different.values()];
  if (option.type === "flag")
    throw new BadOption(`Option --${flag} is both on and off; give --${flag} or --no-${flag}.`);
  const both = option.type === "secret" ? "" : `: ${[...different.keys()].map(shown).join(" and ")}`;
  throw new BadOption(`${where} takes one value, but was given ${different.size} that differ${both}.`);
}

function readVariables(
  entry: OptionEntry,
  env: Invocation["env"],
  surroundings: Surroundings,
  warnings: string[],
): Given | undefined {
  for (const variable of entry.variables) {
    const text = env[variable];
    if (text === undefined || text.trim() === "") continue;
    if (isPlaceholder(entry, text)) {
      warnings.push(
        `Environment variable ${variable} is ignored: its value is a placeholder that the host did not fill in.`,
      );
      continue;
    }
    const where = `Environment variable ${variable}`;
    const split = isRepeatable(entry.option)
      ? splitVariable(entry.option, text, surroundings.platform)
      : [text];
    const values = split.map((item) => readOrRefuse(where, entry, item, surroundings));
    return { source: "environment", variable, values: arity(where, entry, values) };
  }
  return undefined;
}

/** Whether a host passed its own placeholder on because it had no value: `${input:token}`, `$TOKEN`, `<paste …>`. */
function isPlaceholder({ option, variables }: OptionEntry, text: string): boolean {
  const trimmed = text.trim();
  if (/^\$\{[^}]*\}$/.test(trimmed)) return true;
  if ((option.type === "directory" || option.type === "file") && trimmed.startsWith(`\${`)) return true;
  if (option.type === "secret" && /^<.*>$/.test(trimmed)) return true;
  return variables.some((variable) => trimmed === `$${variable}` || trimmed === `%${variable}%`);
}

function collect<Table extends OptionTable>(
  entries: readonly OptionEntry[],
  given: ReadonlyMap<string, Given>,
  surroundings: Surroundings,
): Pick<OptionsRead<Table>, "values" | "sources" | "variables"> {
  const values: Record<string, unknown> = {};
  const sources: Record<string, OptionSource> = {};
  const variables = new Map<string, string>();
  for (const { key, option } of entries) {
    const found = given.get(key);
    sources[key] = found?.source ?? "default";
    if (found?.variable !== undefined) variables.set(key, found.variable);
    const list = found?.values ?? defaultValues(option, surroundings);
    values[key] = isRepeatable(option) ? list : list[0];
  }
  // The one place where the loop over the table meets its mapped type.
  return {
    values: values as OptionValues<Table>,
    sources: sources as OptionsRead<Table>["sources"],
    variables,
  };
}
