import path from "node:path";
import type { OptionTable } from "../define/options.ts";
import type { ServerDefinition } from "../define/server.ts";
import { type OptionEntry, optionEntries, separator, splitsAtCommas } from "./options.ts";
import type { OptionsRead } from "./parse-options.ts";

/** A program and its arguments. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** A variable of the server's environment in a host's entry. */
export interface EntryVariable {
  readonly name: string;
  /** Undefined for a secret: an entry never contains one, only where the host gets it. */
  readonly value?: string;
  readonly secret?: boolean;
  readonly description?: string;
}

/** What a host's entry passes to a server, so that it starts with the same options. */
export interface Entry {
  readonly args: readonly string[];
  readonly env: readonly EntryVariable[];
}

/**
 * Converts the options that were set to the arguments and variables of a host's entry: paths become absolute, secrets
 * become variables without a value, and what came from the environment stays there.
 */
export function carryOptions(
  server: string,
  table: OptionTable,
  read: OptionsRead<OptionTable>,
  platform: NodeJS.Platform,
): Entry {
  const positionals: string[] = [];
  const flags: string[] = [];
  const env: EntryVariable[] = [];
  const isGiven = (key: string) => (read.sources[key] ?? "default") !== "default";
  for (const entry of optionEntries(server, table)) {
    const { key, option, variables } = entry;
    const name = read.variables.get(key) ?? variables[0];
    if (name === undefined) continue;
    const value = read.values[key];
    const isSecret = option.type === "secret" || hasPassword(value);
    const isAsked = option.ask === true && !option.askUnless?.some(isGiven);
    if (isSecret && (isGiven(key) || isAsked)) {
      env.push({ name, secret: true, description: questionOf(option) });
    } else if (read.sources[key] === "environment") {
      env.push({ name, value: textsOf(value).join(separator(option, platform)) });
    } else if (isGiven(key)) {
      const words = argumentsOf(entry, textsOf(value));
      const isFlag = words.every((word) => word.startsWith("--"));
      (isFlag ? flags : positionals).push(...words);
    }
  }
  return { args: [...positionals, ...flags], env };
}

/** What a form asks a user for an option: `Connection URL: …`. */
function questionOf({ form, description }: OptionEntry["option"]): string {
  return form === undefined ? description : `${form.title}: ${form.help}`;
}

type AnyValue = OptionsRead<OptionTable>["values"][string];

/** The values of an option as texts that set it again. */
function textsOf(value: AnyValue): string[] {
  return [value ?? []]
    .flat()
    .map((item) =>
      typeof item === "object" && "name" in item ? `${item.name}=${item.value}` : String(item),
    );
}

function hasPassword(value: AnyValue): boolean {
  return [value ?? []].flat().some((item) => {
    const scalar = typeof item === "object" && "name" in item ? item.value : item;
    return scalar instanceof URL && (scalar.username !== "" || scalar.password !== "");
  });
}

/** `--flag=value` instead of two words, so that a value may begin with a dash. */
function argumentsOf({ option, flag }: OptionEntry, texts: readonly string[]): string[] {
  if (option.type === "flag") return [texts[0] === "true" ? `--${flag}` : `--no-${flag}`];
  if (option.positional === true && texts.every((text) => !text.startsWith("-"))) return [...texts];
  return (splitsAtCommas(option) ? [texts.join(",")] : texts).map((text) => `--${flag}=${text}`);
}

/**
 * The command that starts this server again if it is not an installed package: this Node.js and the bin as absolute
 * paths, because desktop hosts often have a PATH without `node`. Undefined inside `node_modules` (npx, a global or a
 * local installation), where npx is used.
 *
 * @param bin the file that node runs: `process.argv[1]` with links resolved
 */
export function localCommand(bin: string | undefined): Launch | undefined {
  return bin === undefined || bin.split(/[\\/]/).includes("node_modules")
    ? undefined
    : { command: process.execPath, args: [path.resolve(bin)] };
}

/**
 * The output of `--print-config`: the entry in the form that most hosts take, and for stderr what to do with it.
 *
 * @param local what starts the server in a clone. Default: npx
 */
export function commonEntry(
  { name, packageName }: Pick<ServerDefinition<never>, "name" | "packageName">,
  { args, env }: Entry,
  local?: Launch,
  platform = process.platform,
): { readonly text: string; readonly guidance: string } {
  // On Windows, `npx` is a batch file, which only a shell can start.
  const npx = platform === "win32" ? ["cmd", "/c", "npx"] : ["npx"];
  const [command = "", ...first] = [...npx, "-y", packageName];
  const start = local ?? { command, args: first };
  const variables = env.map(({ name, value = "", secret }) => {
    return [name, secret === true ? `<paste ${name} here>` : value];
  });
  const entry = {
    command: start.command,
    args: [...start.args, ...args],
    ...(variables.length === 0 ? {} : { env: Object.fromEntries(variables) }),
  };
  const guidance = `Add this to the host's list of MCP servers, and restart the host.\nSome hosts have another form: refmcp ${name} --print-config HOST prints it, and where it goes.\n`;
  const file = { mcpServers: { [name]: entry } };
  return { text: `${JSON.stringify(file, undefined, 2)}\n`, guidance };
}
