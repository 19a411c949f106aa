import path from "node:path";
import type { HostName } from "../define/common-options.ts";
import type { NamedValue, OptionTable } from "../define/options.ts";
import { type HostEntry, type HostVariable, hostEntry, type ServerLaunch } from "./host-entry.ts";
import type { HostLocation } from "./hosts.ts";
import { type OptionEntry, optionEntries } from "./option-table.ts";
import { joinForVariable, type Scalar, splitsAtCommas } from "./option-values.ts";
import type { OptionsRead } from "./parse-options.ts";

/** The options of this process as another start of the server needs them. */
export interface CarriedOptions {
  readonly args: readonly string[];
  readonly env: readonly HostVariable[];
}

/**
 * The options that were given, as the arguments and variables of a host's entry: paths absolute, secrets as
 * variables without their value, what came from the environment as variables again.
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
  for (const entry of optionEntries(server, table)) {
    const { key, option, variables } = entry;
    const [automatic] = variables;
    if (automatic === undefined) continue;
    const given = read.sources[key] !== "default";
    const secret = { secret: true, description: option.description };
    const isAsked =
      option.ask === true &&
      !option.askUnless?.some((other) => (read.sources[other] ?? "default") !== "default");
    if (option.type === "secret" ? given || isAsked : given && hasPassword(read.values[key])) {
      env.push({ name: read.variables.get(key) ?? automatic, ...secret });
    } else if (read.sources[key] === "environment") {
      const value = joinForVariable(option, textsOf(read.values[key]), platform);
      env.push({ name: read.variables.get(key) ?? automatic, value });
    } else if (given) {
      const words = argumentsOf(entry, textsOf(read.values[key]));
      const isFlag = words.every((word) => word.startsWith("--"));
      (isFlag ? flags : positionals).push(...words);
    }
  }
  return { args: [...positionals, ...flags], env };
}

type AnyValue = OptionsRead<OptionTable>["values"][string];

function textsOf(value: AnyValue): string[] {
  return [value ?? []].flat().map(textOf);
}

function textOf(value: Scalar | NamedValue<Scalar>): string {
  return typeof value === "object" && "name" in value ? `${value.name}=${value.value}` : String(value);
}

function hasPassword(value: AnyValue): boolean {
  return [value ?? []].flat().some((item) => {
    const scalar = typeof item === "object" && "name" in item ? item.value : item;
    return scalar instanceof URL && (scalar.username !== "" || scalar.password !== "");
  });
}

/** `--flag=value` rather than two words, so that a value that begins with a dash stays one. */
function argumentsOf({ option, flag }: OptionEntry, texts: readonly string[]): string[] {
  if (option.type === "flag") return [texts[0] === "true" ? `--${flag}` : `--no-${flag}`];
  if (option.positional === true && texts.every((text) => !text.startsWith("-"))) return [...texts];
  return (splitsAtCommas(option) ? [texts.join(",")] : texts).map((text) => `--${flag}=${text}`);
}

/**
 * How this process can be started again where it does not run from an installed package: this Node.js and the bin, both
 * as absolute paths, because desktop hosts often start with a PATH that has no `node`. Undefined inside `node_modules`
 * (npx, a global or a local installation), where npx is the way.
 *
 * @param bin the file that node runs: `process.argv[1]` with links resolved
 */
export function localCommand(bin: string): NonNullable<ServerLaunch["command"]> | undefined {
  return bin.split(/[\\/]/).includes("node_modules")
    ? undefined
    : { command: process.execPath, args: [path.resolve(bin)] };
}

/** An entry as a terminal shows it. */
export interface RenderedEntry {
  /** For stdout: exactly what to paste. */
  readonly text: string;
  /** For stderr: where it goes and what to look out for. */
  readonly guidance: string;
}

/** What of a server's definition stands in an entry. */
export interface EntryOwner {
  readonly name: string;
  readonly packageName: string;
}

/** This process, as far as an entry depends on it. */
export interface EntryOrigin {
  /** The file that node runs, with links resolved; outside `node_modules` the entry runs it instead of npx. */
  readonly bin?: string;
  /** Default: `process.platform`. */
  readonly platform?: NodeJS.Platform;
}

/** The answer to `--print-config`: the entry of this server, with the options it was started with. */
export function renderHostEntry(
  host: HostName,
  { name, packageName }: EntryOwner,
  carried: CarriedOptions,
  { bin, platform = process.platform }: EntryOrigin = {},
): RenderedEntry {
  const command = bin === undefined ? undefined : localCommand(bin);
  return renderEntry(
    hostEntry(host, { serverKey: name, packageName, ...carried, ...(command !== undefined && { command }) }),
    platform,
  );
}

/** Renders an entry for the platform that the user sits at. */
export function renderEntry(entry: HostEntry, platform: NodeJS.Platform): RenderedEntry {
  const windows = platform === "win32";
  const here = entry.locations.filter(
    ({ platform: place }) => place === "any" || place === platformName(platform),
  );
  const locations = (here.length > 0 ? here : entry.locations).map((location) =>
    locationText(location, windows),
  );
  const lines = [
    `${entry.title}: put this into ${locations.join(" or ")}.`,
    "If the file is there already, keep what it has and add this server to it.",
    ...(entry.shellCommand === undefined || windows ? [] : [`Or run: ${entry.shellCommand}`]),
    ...(entry.link === undefined ? [] : [`Or open: ${entry.link}`]),
    ...entry.notes,
    ...(windows ? entry.windowsNotes : []),
    `More: ${entry.documentation}`,
  ];
  const text = windows ? (entry.windowsText ?? entry.text) : entry.text;
  return { text, guidance: `${lines.join("\n")}\n` };
}

function platformName(platform: NodeJS.Platform): HostLocation["platform"] {
  if (platform === "win32") return "Windows";
  return platform === "darwin" ? "macOS" : "Linux";
}

function locationText({ scope, path: place, platform }: HostLocation, windows: boolean): string {
  const own =
    windows && platform === "any" ? place.replace(/^~/, "%USERPROFILE%").replaceAll("/", "\\") : place;
  return scope === "project" ? `${own} (this project)` : `${own} (all your projects)`;
}
