import path from "node:path";
import type { HostName } from "@refmcp/core/internal/define/common-options";
import type { OptionTable } from "@refmcp/core/internal/define/options";
import { type HostVariable, hostEntry } from "./host-entry.ts";
import type { Launch } from "./hosts.ts";
import { type OptionEntry, optionEntries } from "./option-table.ts";
import { joinForVariable, splitsAtCommas } from "./option-values.ts";
import type { OptionsRead } from "./parse-options.ts";

/** The options of this process in the form needed to start the server again. */
export interface CarriedOptions {
  readonly args: readonly string[];
  readonly env: readonly HostVariable[];
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
): CarriedOptions {
  const positionals: string[] = [];
  const flags: string[] = [];
  const env: HostVariable[] = [];
  const isGiven = (key: string) => (read.sources[key] ?? "default") !== "default";
  for (const entry of optionEntries(server, table)) {
    const { key, option, variables } = entry;
    const name = read.variables.get(key) ?? variables[0];
    if (name === undefined) continue;
    const value = read.values[key];
    const isAsked = option.ask === true && !option.askUnless?.some(isGiven);
    if (option.type === "secret" ? isGiven(key) || isAsked : isGiven(key) && hasPassword(value)) {
      env.push({ name, secret: true, description: option.description });
    } else if (read.sources[key] === "environment") {
      env.push({ name, value: joinForVariable(option, textsOf(value), platform) });
    } else if (isGiven(key)) {
      const words = argumentsOf(entry, textsOf(value));
      const isFlag = words.every((word) => word.startsWith("--"));
      (isFlag ? flags : positionals).push(...words);
    }
  }
  return { args: [...positionals, ...flags], env };
}

type AnyValue = OptionsRead<OptionTable>["values"][string];

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
 * The output of `--print-config` for the user's platform: this server's entry with the current options, ready to paste,
 * and for stderr where to put it and what to watch out for.
 *
 * @param origin `bin` is the file that node runs, with links resolved; outside `node_modules`, the entry runs it
 *   instead of npx
 */
export function renderHostEntry(
  host: HostName,
  { name, packageName }: { readonly name: string; readonly packageName: string },
  carried: CarriedOptions,
  {
    bin,
    platform = process.platform,
  }: { readonly bin?: string | undefined; readonly platform?: NodeJS.Platform } = {},
): { readonly text: string; readonly guidance: string } {
  const command = localCommand(bin);
  const launch = { serverKey: name, packageName, ...carried, ...(command !== undefined && { command }) };
  const entry = hostEntry(host, launch);
  const windows = platform === "win32";
  const system = windows ? "Windows" : platform === "darwin" ? "macOS" : "Linux";
  const here = entry.locations.filter((location) => ["any", system].includes(location.platform));
  const places = (here.length > 0 ? here : entry.locations).map(
    ({ scope, path: place, platform: of, installation }) => {
      const file =
        windows && of === "any" ? place.replace(/^~/, "%USERPROFILE%").replaceAll("/", "\\") : place;
      const reach = scope === "project" ? "this project" : "all your projects";
      return `${file} (${installation === undefined ? reach : `${reach}; ${installation}`})`;
    },
  );
  const lines = [
    `${entry.title}: add this to ${places.join(" or ")}.`,
    "If the file already exists, keep its content and add this server.",
    ...(entry.shellCommand === undefined || windows ? [] : [`Or run: ${entry.shellCommand}`]),
    ...(entry.link === undefined ? [] : [`Or open: ${entry.link}`]),
    ...entry.notes,
    ...(windows ? entry.windowsNotes : []),
    `More: ${entry.documentation}`,
  ];
  const text = windows ? (entry.windowsText ?? entry.text) : entry.text;
  return { text, guidance: `${lines.join("\n")}\n` };
}
