import type { HostName } from "@refmcp/core/internal/define/common-options";
import { stringify } from "smol-toml";
import {
  type EntryVariables,
  HOSTS,
  type HostFacts,
  type HostLocation,
  inputId,
  type Launch,
  ordinaryEntry,
} from "./hosts.ts";
import { type Json, jsonText, shellWord } from "./text-layout.ts";

/** A variable of the server's environment in a host's entry. */
export interface HostVariable {
  readonly name: string;
  /** Undefined for a secret: an entry never contains one, only where the host gets it. */
  readonly value?: string;
  readonly secret?: boolean;
  /** A description of the value, for asking the user. */
  readonly description?: string;
}

/** What a host needs to start a server. */
export interface ServerLaunch {
  /** The name that the host uses: lower case, at most 20 characters, no underscore. */
  readonly serverKey: string;
  /** Run with `npx -y` unless `command` is set. */
  readonly packageName: string;
  /** The server's own arguments. */
  readonly args?: readonly string[];
  readonly env?: readonly HostVariable[];
  /**
   * Values that VS Code asks for in addition to secrets: `${input:ID}` in an argument is replaced with the answer.
   */
  readonly inputs?: readonly { readonly id: string; readonly description: string }[];
  /** A local program instead of npx, for a clone: `{ command: "/abs/node", args: ["/abs/dist/bin.js"] }`. */
  readonly command?: Launch;
}

/** What to paste into a host's configuration, and where. */
export interface HostEntry {
  readonly host: HostName;
  /** The host's name for people. */
  readonly title: string;
  readonly locations: readonly HostLocation[];
  readonly format: "json" | "toml" | "yaml";
  /** A complete file with only this server, ending in a line break. */
  readonly text: string;
  /** The same for Windows, where hosts that spawn without a shell find no `npx`; absent if it is the same. */
  readonly windowsText: string | undefined;
  /** A shell command that does the same, if the host has one. */
  readonly shellCommand: string | undefined;
  /** A link that does the same, if the host has one. */
  readonly link: string | undefined;
  /** Sentences about things to watch out for. */
  readonly notes: readonly string[];
  /** The same, for Windows only. */
  readonly windowsNotes: readonly string[];
  /** The host's own documentation. */
  readonly documentation: string;
  /** When the entry was last compared with the host's documentation or source: `2026-09`. */
  readonly checked: string;
}

/**
 * The entry of a server in a host's configuration.
 *
 * @throws {TypeError} if the server key has a form that hosts do not accept.
 */
export function hostEntry(host: HostName, launch: ServerLaunch): HostEntry {
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(launch.serverKey))
    throw new TypeError(
      `The server key "${launch.serverKey}" must consist of at most 20 lowercase letters, digits and dashes.`,
    );
  const facts = HOSTS[host];
  const { title, documentation, checked, locations, format = "json" } = facts;
  const start = launchOf(launch);
  // On Windows, `npx` is a batch file, which only a shell can start.
  const windowsStart =
    facts.findsNpxOnWindows === true ? start : { command: "cmd", args: ["/c", start.command, ...start.args] };
  return {
    host,
    title,
    documentation,
    checked,
    locations,
    format,
    text: entryText(facts, launch, start),
    windowsText: launch.command === undefined ? entryText(facts, launch, windowsStart) : undefined,
    shellCommand: shellCommandOf(facts, launch),
    link: LINKS[host]?.(launch),
    notes: notesOf(host, launch),
    windowsNotes: [...(facts.windowsNotes ?? []), ...windowsNotesOf(launch)],
  };
}

/** A link that installs the server in VS Code, which asks for secrets and inputs. */
export function vscodeLink(launch: ServerLaunch): string {
  const inputs = vscodeInputs(launch);
  const config = serverEntry(HOSTS.vscode, launch, launchOf(launch));
  const asked = inputs.length === 0 ? "" : `&inputs=${queryValue(JSON.stringify(inputs))}`;
  return `https://insiders.vscode.dev/redirect/mcp/install?name=${queryValue(launch.serverKey)}${asked}&config=${queryValue(JSON.stringify(config))}`;
}

/** A link that installs the server in Cursor, which takes secrets from its environment. */
export function cursorLink(launch: ServerLaunch): string {
  return linkWith("https://cursor.com/en/install-mcp", launch, base64Of(entryLine("cursor", launch)));
}

/** The links documented by hosts, which contain the server's entry. */
const LINKS: Partial<Record<HostName, (launch: ServerLaunch) => string>> = {
  vscode: vscodeLink,
  cursor: cursorLink,
  "lm-studio": (launch) =>
    linkWith("https://lmstudio.ai/install-mcp", launch, base64Of(entryLine("lm-studio", launch))),
  kiro: (launch) => linkWith("https://kiro.dev/launch/mcp/add", launch, entryLine("kiro", launch)),
};

function linkWith(page: string, { serverKey }: ServerLaunch, config: string): string {
  return `${page}?name=${queryValue(serverKey)}&config=${queryValue(config)}`;
}

const entryLine = (host: HostName, launch: ServerLaunch) =>
  JSON.stringify(serverEntry(HOSTS[host], launch, launchOf(launch)));
const base64Of = (text: string) => Buffer.from(text).toString("base64");

/** Encodes a value for a link, including parentheses, which would end a link in Markdown. */
function queryValue(text: string): string {
  return encodeURIComponent(text).replaceAll("(", "%28").replaceAll(")", "%29");
}

function launchOf({ packageName, args = [], command }: ServerLaunch): Launch {
  return command === undefined
    ? { command: "npx", args: ["-y", packageName, ...args] }
    : { command: command.command, args: [...command.args, ...args] };
}

/** The entry itself, without the file around it. */
function serverEntry(facts: HostFacts, launch: ServerLaunch, start: Launch): { [key: string]: Json } {
  const variables = variablesOf(facts, launch);
  return facts.entry?.(start, variables, launch.serverKey) ?? ordinaryEntry(start, variables.all);
}

function variablesOf(facts: HostFacts, { env = [] }: ServerLaunch): EntryVariables {
  const texts = env.map(({ name, value = "", secret = false }) =>
    secret ? (facts.secret?.(name) ?? `<paste ${name} here>`) : value,
  );
  const named = env.map(({ name }, index) => [name, texts[index] ?? ""] as const);
  return {
    all: Object.fromEntries(named),
    plain: Object.fromEntries(named.filter((_, index) => env[index]?.secret !== true)),
    secrets: secretNames(env),
  };
}

function entryText(facts: HostFacts, launch: ServerLaunch, start: Launch): string {
  const { key = "mcpServers", format } = facts;
  const entry = serverEntry(facts, launch, start);
  if (format === "yaml") {
    // JSON values are also valid YAML.
    const fields = Object.entries(entry).map(([name, value]) => `    ${name}: ${JSON.stringify(value)}\n`);
    return `${key}:\n  ${launch.serverKey}:\n${fields.join("")}`;
  }
  const file = [key].flat().reduceRight<{ [key: string]: Json }>((inner, name) => ({ [name]: inner }), {
    [launch.serverKey]: entry,
  });
  if (format === "toml") return stringify(file);
  const inputs = facts === HOSTS.vscode ? vscodeInputs(launch) : [];
  return `${jsonText({ ...(inputs.length > 0 && { inputs }), ...file })}\n`;
}

function vscodeInputs({ env = [], inputs = [] }: ServerLaunch): { [key: string]: Json }[] {
  const type = "promptString";
  const secrets = env.filter((variable) => variable.secret === true);
  return [
    ...secrets.map(({ name, description = name }) => ({
      type,
      id: inputId(name),
      description,
      password: true,
    })),
    ...inputs.map(({ id, description }) => ({ type, id, description })),
  ];
}

function secretNames(env: readonly HostVariable[]): string[] {
  return env.filter((variable) => variable.secret === true).map((variable) => variable.name);
}

/** The host's own command for a POSIX shell, if it can set all of the server's variables. */
function shellCommandOf(facts: HostFacts, launch: ServerLaunch): string | undefined {
  const { adds, secret } = facts;
  // If an entry cannot refer to a secret, the command would contain it, visible to every user of the machine.
  if (secretNames(launch.env ?? []).length > 0 && (secret === undefined || secret("X") === "X"))
    return undefined;
  const pairs = Object.entries(variablesOf(facts, launch).all);
  const variables = pairs.flatMap(([name, value]) => ["--env", `${name}=${value}`]);
  const { command, args } = launchOf(launch);
  const words = adds?.(launch.serverKey, variables);
  return words && [...words, "--", command, ...args].map(shellWord).join(" ");
}

function notesOf(host: HostName, launch: ServerLaunch): string[] {
  const { title, secret, replaces, notes = [] } = HOSTS[host];
  const secrets = secretNames(launch.env ?? []).join(" and ");
  const replaced = launchOf(launch).args.filter((arg) => replaces?.test(arg) === true);
  const found: string[] = [];
  if (secrets !== "" && host === "vscode")
    found.push(
      `${title} asks for ${secrets} and stores it encrypted. It does not pass servers that prompt for input on to Copilot sessions.`,
    );
  else if (secrets !== "" && secret !== undefined)
    found.push(`Set ${secrets} in the environment that ${title} starts in.`);
  else if (secrets !== "") found.push(`Replace the placeholder for ${secrets} with the value.`);
  if (replaced.length > 0)
    found.push(`${title} replaces variables in arguments; check ${replaced.map(shellWord).join(" and ")}.`);
  return [...found, ...notes];
}

function windowsNotesOf(launch: ServerLaunch): string[] {
  const { args } = launchOf(launch);
  const special = launch.command === undefined ? args.filter((arg) => /[&|<>^%"!]/.test(arg)) : [];
  if (special.length === 0) return [];
  return [
    `In cmd, & | < > ^ % " ! are special; pass ${special.map(shellWord).join(" and ")} through env instead.`,
  ];
}
