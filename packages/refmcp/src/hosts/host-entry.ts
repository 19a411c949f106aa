import { type Entry, type EntryVariable, type Launch, shellWord } from "@refmcp/core/run";
import { stringify } from "smol-toml";
import { type EntryVariables, type HostFacts, inputId, type Json, ordinaryEntry } from "./facts.ts";
import type { HostName } from "./host-names.ts";
import { HOSTS, placesOn } from "./hosts.ts";

export interface ServerLaunch {
  /** The name that the host uses: lower case, at most 20 characters, no underscore. */
  readonly serverKey: string;
  /** Run with `npx -y` unless `command` is set. */
  readonly packageName: string;
  readonly args?: readonly string[];
  readonly env?: readonly EntryVariable[];
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

function secretNames(env: readonly EntryVariable[]): string[] {
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
 * The output of `--print-config` for the user's platform: this server's entry with the current options, ready to paste,
 * and for stderr where to put it and what to watch out for.
 *
 * @param origin `command` is what starts the server in a clone. Default: npx
 */
export function renderHostEntry(
  host: HostName,
  { name, packageName }: { readonly name: string; readonly packageName: string },
  carried: Entry,
  {
    command,
    platform = process.platform,
  }: { readonly command?: Launch | undefined; readonly platform?: NodeJS.Platform } = {},
): { readonly text: string; readonly guidance: string } {
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
