import type { Option, OptionTable } from "../define/options.ts";

/** An option of a table with the names it goes by: what the parser, the help and the generators work from. */
export interface OptionEntry {
  readonly key: string;
  readonly option: Option;
  /** The flag without dashes: `max-read-chars`. */
  readonly flag: string;
  /** Environment variables in order of precedence; the first is `REFMCP_<SERVER>_<FLAG>`. Empty for `env: false`. */
  readonly variables: readonly string[];
  /** What stands for its value in help, "" for a flag: `DIR`, `ask|never`, `NAME=URL`. */
  readonly valueName: string;
}

/** The start of the environment variables of a server: `REFMCP_FILESYSTEM_`. */
export function variablePrefix(server: string): string {
  return `REFMCP_${server.replaceAll("-", "_").toUpperCase()}_`;
}

/** The entries of a table in its order. */
export function optionEntries(server: string, table: OptionTable): OptionEntry[] {
  return Object.entries(table).map(([key, option]) => {
    const flag = option.flag ?? kebabCase(key);
    const automatic = variablePrefix(server) + flag.replaceAll("-", "_").toUpperCase();
    return {
      key,
      option,
      flag,
      variables: option.env === false ? [] : [automatic, ...(option.env ?? [])],
      valueName: valueName(option),
    };
  });
}

/** Whether an option takes several values. */
export function isRepeatable(option: Option): boolean {
  return option.list === true || option.named !== undefined;
}

/** The default in words for people (`20,000`, `on`), or undefined where there is none worth naming. */
export function defaultText(option: Option): string | undefined {
  if (option.type === "flag") return option.default === true ? "on" : undefined;
  const value = option.default;
  if (value === undefined) return undefined;
  return [value].flat().map(plain).join(", ");
}

/** The range of an integer in words for people, or undefined: `1,000 to 80,000`. */
export function rangeText(option: Option): string | undefined {
  if (option.type !== "integer") return undefined;
  const { min, max } = option;
  if (min === undefined) return max === undefined ? undefined : `at most ${plain(max)}`;
  return max === undefined ? `at least ${plain(min)}` : `${plain(min)} to ${plain(max)}`;
}

function plain(value: string | number): string {
  return typeof value === "number" ? value.toLocaleString("en-US") : value;
}

/**
 * Checks what the types cannot: names that are well formed and used once, defaults in their range, one positional
 * option at most, one-line descriptions.
 *
 * @throws {TypeError} with all that is wrong, for the author of the table.
 */
export function checkOptionTable(server: string, table: OptionTable): void {
  const problems: string[] = [];
  const flags = new Map<string, string>();
  const variables = new Map<string, string>();
  let positional: string | undefined;
  for (const entry of optionEntries(server, table)) {
    const { key, option, flag } = entry;
    const say = (problem: string) => problems.push(`${key}: ${problem}`);
    if (!/^[a-z][a-zA-Z0-9]*$/.test(key)) say("the key is not camelCase");
    if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(flag)) say(`the flag "${flag}" is not kebab-case`);
    if (flag.startsWith("no-")) say(`the flag "${flag}" begins with "no-", which turns flags off`);
    const sameFlag = flags.get(flag);
    if (sameFlag !== undefined) say(`the flag --${flag} is taken by ${sameFlag}`);
    flags.set(flag, key);
    for (const variable of entry.variables) {
      if (!/^[A-Z][A-Z0-9_]*$/.test(variable)) say(`"${variable}" is no name of an environment variable`);
      const sameVariable = variables.get(variable);
      if (sameVariable !== undefined) say(`the variable ${variable} is taken by ${sameVariable}`);
      variables.set(variable, key);
    }
    if (option.positional === true) {
      if (positional !== undefined) say(`${positional} is positional already`);
      positional = key;
    }
    if (option.ask === true && option.title === undefined) say("an option that is asked for needs a title");
    if (!/^\S.*\.$/.test(option.description)) say("the description is not a sentence on one line");
    for (const problem of valueProblems(option)) say(problem);
  }
  if (problems.length > 0) throw new TypeError(`Option table of ${server}: ${problems.join("; ")}.`);
}

function valueProblems(option: Option): string[] {
  const defaults = [option.default ?? []].flat();
  if (option.type === "enum") {
    const { values } = option;
    if (values.length === 0) return ["an enum needs values"];
    return defaults.flatMap((value) =>
      typeof value === "string" && values.includes(value)
        ? []
        : [`the default "${value}" is none of its values`],
    );
  }
  if (option.type === "integer") {
    const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = option;
    return defaults.flatMap((value) =>
      Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
        ? []
        : [`the default ${value} is out of range`],
    );
  }
  if (option.type === "url") {
    return defaults.flatMap((value) =>
      typeof value === "string" && URL.canParse(value) ? [] : [`the default "${value}" is no URL`],
    );
  }
  return [];
}

function kebabCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const VALUE_NAMES = {
  directory: "DIR",
  file: "FILE",
  url: "URL",
  integer: "N",
  string: "TEXT",
  secret: "SECRET",
} as const;

function valueName(option: Option): string {
  if (option.type === "flag") return "";
  const own =
    option.valueName ?? (option.type === "enum" ? option.values.join("|") : VALUE_NAMES[option.type]);
  return option.named === undefined || own.includes("=") ? own : `NAME=${own}`;
}
