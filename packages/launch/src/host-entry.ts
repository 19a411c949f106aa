import path from "node:path";
import type { HostName } from "@refmcp/core/internal/define/common-options";
import type { OptionTable } from "@refmcp/core/internal/define/options";
import { stringify } from "smol-toml";
import { shellWord } from "./help.ts";
import {
  type EntryVariables,
  type HostFacts,
  inputId,
  type Json,
  type Launch,
  ordinaryEntry,
} from "./hosts/facts.ts";
import { HOSTS, placesOn } from "./hosts.ts";
import { joinForVariable, type OptionEntry, optionEntries, splitsAtCommas } from "./options.ts";
import type { OptionsRead } from "./parse-options.ts";

/** A variable of the server's environment in a host's entry. */
export interface HostVariable {
  readonly name: string;
  /** Undefined for a secret: an entry never contains one, only where the host gets it. */
  readonly value?: string;
  readonly secret?: boolean;
  readonly description?: string;
}

export interface ServerLaunch {
  /** The name that the host uses: lower case, at most 20 characters, no underscore. */
  readonly serverKey: string;
  /** Run with `npx -y` unless `command` is set. */
  readonly packageName: string;
  readonly args?: readonly string[];
  readonly env?: readonly HostVariable[];
  /**
   * Values that VS Code asks for in addition to secrets: `${input:ID}` in an argument is replaced with the answer.
   */
  readonly inputs?: readonly { readonly id: string; readonly description: string }[];
  /** A local program instead of npx, for a clone: `{ command: "/abs/node", args: ["/abs/dist/bin.js"] }`. */
  readonly command?: Launch;
}

/**
 * The entry of a server in a host's configuration, where to paste it, and what to watch out for.
 *
 * @throws {TypeError} if the server key has a form that hosts do not accept.
 */
export function hostEntry(host: HostName, launch: ServerLaunch) {
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(launch.serverKey))
    throw new TypeError(
      `The server key "${launch.serverKey}" must consist of at most 20 lowercase letters, digits and dashes.`,
    );
  const facts = HOSTS[host];
  const { title, documentation, checked } = facts;
  const format = facts.format ?? "json";
  const start = startOf(launch);
  // On Windows, `npx` is a batch file, which only a shell can start.
  const windowsStart = { command: "cmd", args: ["/c", start.command, ...start.args] };
  return {
    host,
    title,
    documentation,
    checked,
    places: facts.places,
    dialog: facts.dialog,
    restart: facts.restart,
    format,
    /** A complete file with only this server, ending in a line break. */
    text: entryText(facts, launch, start),
    /** Undefined if it is the same. */
    windowsText: launch.command === undefined ? entryText(facts, launch, windowsStart) : undefined,
    shellCommand: shellCommandOf(facts, launch),
    link: installLink(host, launch),
    appLink: linkOf(host, launch, facts.appLink),
    notes: notesOf(host, launch),
    windowsNotes: [...(facts.windowsNotes ?? []), ...windowsNotesOf(launch)],
  };
}

export type HostEntry = ReturnType<typeof hostEntry>;

/** The host's link that installs the server, which contains its entry; undefined if it has none. */
export function installLink(host: HostName, launch: ServerLaunch): string | undefined {
  return linkOf(host, launch, HOSTS[host].link);
}

function linkOf(host: HostName, launch: ServerLaunch, make: HostFacts["link"]): string | undefined {
  const inputs = host === "vscode" ? vscodeInputs(launch) : [];
  return make?.(launch.serverKey, serverEntry(HOSTS[host], launch, startOf(launch)), inputs);
}

function startOf({ packageName, args = [], command }: ServerLaunch): Launch {
  return command === undefined
    ? { command: "npx", args: ["-y", packageName, ...args] }
    : { command: command.command, args: [...command.args, ...args] };
}

/** The entry itself, without the file around it. */
function serverEntry(
  facts: HostFacts,
  launch: ServerLaunch,
  start: Launch,
): { [key: string]: Json } {
  const variables = variablesOf(facts, launch);
  return facts.entry?.(start, variables, launch.serverKey) ?? ordinaryEntry(start, variables);
}

function variablesOf(facts: HostFacts, { env = [] }: ServerLaunch): EntryVariables {
  const plain = env.filter((variable) => variable.secret !== true);
  const pairs = env.map(({ name, value = "", secret = false }) => {
    return [name, secret ? (facts.secret?.(name) ?? `<paste ${name} here>`) : value] as const;
  });
  return {
    all: Object.fromEntries(pairs),
    plain: Object.fromEntries(plain.map(({ name, value = "" }) => [name, value])),
    secrets: secretNames(env),
  };
}

function entryText(facts: HostFacts, launch: ServerLaunch, start: Launch): string {
  const { key = "mcpServers", format } = facts;
  const entry = serverEntry(facts, launch, start);
  const servers: Json = { [launch.serverKey]: entry };
  const file = [key].flat().reduceRight<Json>((inner, name) => ({ [name]: inner }), servers);
  if (format === "yaml") return yamlText(file);
  if (format === "toml") return stringify(file);
  const inputs = facts === HOSTS.vscode ? vscodeInputs(launch) : [];
  return `${jsonText({ ...(inputs.length > 0 && { inputs }), ...Object(file) })}\n`;
}

/** YAML for objects; other values are JSON, which is also valid YAML. */
function yamlText(value: Json, indent = ""): string {
  const fields = Object.entries(value).map(([name, item]) =>
    typeof item !== "object" || isList(item)
      ? `${indent}${name}: ${JSON.stringify(item)}\n`
      : `${indent}${name}:\n${yamlText(item, `${indent}  `)}`,
  );
  return fields.join("");
}

/** JSON with two spaces of indentation. A list of plain values stays on one line if it fits into 80 columns. */
export function jsonText(value: Json, indent = ""): string {
  if (typeof value !== "object") return JSON.stringify(value);
  const deeper = `${indent}  `;
  if (isList(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    const plain = value.every((item) => typeof item !== "object");
    if (value.length === 0 || (plain && indent.length + line.length <= 80)) return line;
    return `[\n${value.map((item) => deeper + jsonText(item, deeper)).join(",\n")}\n${indent}]`;
  }
  const fields = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}: ${jsonText(item, deeper)}`,
  );
  return fields.length === 0
    ? "{}"
    : `{\n${fields.map((field) => deeper + field).join(",\n")}\n${indent}}`;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

function vscodeInputs({ env = [], inputs = [] }: ServerLaunch): { [key: string]: Json }[] {
  const type = "promptString";
  const secrets = env.filter((variable) => variable.secret === true);
  return [
    ...secrets.map(({ name, description = name }) => {
      return { type, id: inputId(name), description, password: true };
    }),
    ...inputs.map(({ id, description }) => ({ type, id, description })),
  ];
}

function secretNames(env: readonly HostVariable[]): string[] {
  return env.filter((variable) => variable.secret === true).map((variable) => variable.name);
}

/** The host's own command for a POSIX shell, if it can set all of the server's variables. */
function shellCommandOf(facts: HostFacts, launch: ServerLaunch): string | undefined {
  const { adds, secret } = facts;
  // If an entry cannot refer to a secret, the command would contain it, visible to every user of the machine. VS Code's
  // command does not take the questions that its entry refers to.
  const isNamed =
    secret !== undefined && secret("X") !== "X" && !secret("X").startsWith("${input:");
  if (secretNames(launch.env ?? []).length > 0 && !isNamed) return undefined;
  const pairs = Object.entries(variablesOf(facts, launch).all);
  if (typeof adds === "function")
    return adds(launch.serverKey, serverEntry(facts, launch, startOf(launch)))
      .map(shellWord)
      .join(" ");
  if (adds === undefined || (pairs.length > 0 && !adds.includes(" ENV"))) return undefined;
  const variables = pairs.flatMap(([name, value]) => ["--env", `${name}=${value}`]);
  const words = adds
    .split(" ")
    .flatMap((word) => (word === "ENV" ? variables : word === "NAME" ? launch.serverKey : word));
  const { command, args } = startOf(launch);
  return [...words, "--", command, ...args].map(shellWord).join(" ");
}

function notesOf(host: HostName, launch: ServerLaunch): string[] {
  const { title, secret, replaces, notes = [] } = HOSTS[host];
  const secrets = secretNames(launch.env ?? []).join(" and ");
  const replaced = startOf(launch).args.filter((arg) => replaces?.test(arg) === true);
  const found: string[] = [];
  if (secrets !== "" && host === "vscode")
    found.push(
      `${title} asks for ${secrets} and stores it encrypted. It does not pass servers that prompt for input on to Copilot sessions.`,
    );
  else if (secrets !== "" && secret !== undefined)
    found.push(`Set ${secrets} in the environment that ${title} starts in.`);
  else if (secrets !== "") found.push(`Replace the placeholder for ${secrets} with the value.`);
  if (replaced.length > 0)
    found.push(
      `${title} replaces variables in arguments; check ${replaced.map(shellWord).join(" and ")}.`,
    );
  return [...found, ...notes];
}

function windowsNotesOf(launch: ServerLaunch): string[] {
  const { args } = startOf(launch);
  const special = launch.command === undefined ? args.filter((arg) => /[&|<>^%"!]/.test(arg)) : [];
  if (special.length === 0) return [];
  return [
    `In cmd, & | < > ^ % " ! are special; pass ${special.map(shellWord).join(" and ")} through env instead.`,
  ];
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
): Required<Pick<ServerLaunch, "args" | "env">> {
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
      env.push({ name, secret: true, description: questionOf(option) });
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
 * The output of `--print-config` for the user's platform: this server's entry with the current options, ready to paste,
 * and for stderr where to put it and what to watch out for.
 *
 * @param origin `bin` is the file that node runs, with links resolved; outside `node_modules`, the entry runs it
 *   instead of npx
 */
export function renderHostEntry(
  host: HostName,
  { name, packageName }: { readonly name: string; readonly packageName: string },
  carried: ReturnType<typeof carryOptions>,
  {
    bin,
    platform = process.platform,
  }: { readonly bin?: string | undefined; readonly platform?: NodeJS.Platform } = {},
): { readonly text: string; readonly guidance: string } {
  const command = localCommand(bin);
  const launch = {
    serverKey: name,
    packageName,
    ...carried,
    ...(command !== undefined && { command }),
  };
  const entry = hostEntry(host, launch);
  const windows = platform === "win32";
  const here = placesOn(entry, platform);
  const preferred = (here.length > 0 ? here : entry.places).filter(
    ({ alternative }) => alternative !== true,
  );
  const files = preferred.map(({ platform: system, scope, path: file, installation }) => {
    const written =
      windows && system === "any"
        ? file.replace(/^~/, "%USERPROFILE%").replaceAll("/", "\\")
        : file;
    const where = scope === "project" ? "this project" : "all your projects";
    return `${written} (${[where, installation].filter((part) => part !== undefined).join("; ")})`;
  });
  const target = files.length > 0 ? files.join(" or ") : entry.dialog;
  const lines = [
    `${entry.title}: add this to ${target}.`,
    ...(files.length === 0
      ? []
      : ["If the file already exists, keep its content and add this server."]),
    ...(entry.shellCommand === undefined || windows ? [] : [`Or run: ${entry.shellCommand}`]),
    ...(entry.link === undefined ? [] : [`Or open: ${entry.link}`]),
    ...(entry.appLink === undefined
      ? []
      : [`Or open, without the host's web site: ${entry.appLink}`]),
    entry.restart,
    ...entry.notes,
    ...(windows ? entry.windowsNotes : []),
    `More: ${entry.documentation}`,
  ];
  const text = windows ? (entry.windowsText ?? entry.text) : entry.text;
  return { text, guidance: `${lines.join("\n")}\n` };
}
