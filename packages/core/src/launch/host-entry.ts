import { stringify } from "smol-toml";
import type { HostName } from "../define/common-options.ts";
import { type Json, jsonText, shellWord } from "./config-text.ts";
import { HOSTS, type HostLocation, inputId } from "./hosts.ts";

/** A variable of the server's environment in a host's entry. */
export interface HostVariable {
  readonly name: string;
  /** Left out for a secret: no entry ever holds one, but says where the host gets it. */
  readonly value?: string;
  readonly secret?: boolean;
  /** What the user is asked for. */
  readonly description?: string;
}

/** What a host needs to know to start a server. */
export interface ServerLaunch {
  /** The name that the host uses: lower case, at most 20 characters, no underscore. */
  readonly serverKey: string;
  /** Run through `npx -y`, unless `command` says otherwise. */
  readonly packageName: string;
  /** The server's own arguments. */
  readonly args?: readonly string[];
  readonly env?: readonly HostVariable[];
  /** What VS Code asks for in addition to secrets: `${input:ID}` in an argument stands for the answer. */
  readonly inputs?: readonly { readonly id: string; readonly description: string }[];
  /** A program of this machine instead of npx, for a clone: `{ command: "/abs/node", args: ["/abs/dist/bin.js"] }`. */
  readonly command?: Launch;
}

/** A program with its arguments. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** What to paste into a host's configuration, and where. */
export interface HostEntry {
  readonly host: HostName;
  /** The host's name for people. */
  readonly title: string;
  readonly locations: readonly HostLocation[];
  readonly format: "json" | "toml";
  /** A whole file with this server only; its end is a line break. */
  readonly text: string;
  /** The same for Windows, where hosts that spawn without a shell find no `npx`; absent where it is no different. */
  readonly windowsText: string | undefined;
  /** A shell command that does the same, where the host has one that can. */
  readonly shellCommand: string | undefined;
  /** A link that does the same, where the host has one. */
  readonly link: string | undefined;
  /** Sentences on what to look out for. */
  readonly notes: readonly string[];
  /** The same, for Windows only. */
  readonly windowsNotes: readonly string[];
  /** The host's own documentation. */
  readonly documentation: string;
}

/**
 * The entry of a server in a host's configuration.
 *
 * @throws {TypeError} where the server key has another form than hosts take.
 */
export function hostEntry(host: HostName, launch: ServerLaunch): HostEntry {
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(launch.serverKey))
    throw new TypeError(
      `The server key "${launch.serverKey}" is not of lower-case letters, digits and dashes, at most 20.`,
    );
  const { title, documentation, locations } = HOSTS[host];
  const start = launchOf(launch);
  // There `npx` is a batch file, which only a shell can start.
  const windowsStart = { command: "cmd", args: ["/c", start.command, ...start.args] };
  return {
    host,
    title,
    documentation,
    locations,
    format: host === "codex" ? "toml" : "json",
    text: entryText(host, launch, start),
    windowsText: launch.command === undefined ? entryText(host, launch, windowsStart) : undefined,
    shellCommand: shellCommandOf(host, launch),
    link: host === "vscode" ? vscodeLink(launch) : host === "cursor" ? cursorLink(launch) : undefined,
    notes: notesOf(host, launch),
    windowsNotes: windowsNotesOf(launch),
  };
}

/** A link that installs the server into VS Code, which asks for secrets and inputs. */
export function vscodeLink(launch: ServerLaunch): string {
  const inputs = vscodeInputs(launch);
  const config = serverEntry("vscode", launch, launchOf(launch));
  const asked = inputs.length === 0 ? "" : `&inputs=${queryValue(JSON.stringify(inputs))}`;
  return `https://insiders.vscode.dev/redirect/mcp/install?name=${queryValue(launch.serverKey)}${asked}&config=${queryValue(JSON.stringify(config))}`;
}

/** A link that installs the server into Cursor; secrets are taken from its environment. */
export function cursorLink(launch: ServerLaunch): string {
  const entry = JSON.stringify(serverEntry("cursor", launch, launchOf(launch)));
  const config = Buffer.from(entry).toString("base64");
  return `https://cursor.com/en/install-mcp?name=${queryValue(launch.serverKey)}&config=${queryValue(config)}`;
}

/** A value in a link, without the parentheses that end a link in Markdown. */
function queryValue(text: string): string {
  return encodeURIComponent(text).replaceAll("(", "%28").replaceAll(")", "%29");
}

function launchOf({ packageName, args = [], command }: ServerLaunch): Launch {
  return command === undefined
    ? { command: "npx", args: ["-y", packageName, ...args] }
    : { command: command.command, args: [...command.args, ...args] };
}

/** The entry itself, without the file around it. */
function serverEntry(
  host: HostName,
  { env = [] }: ServerLaunch,
  { command, args }: Launch,
): { [key: string]: Json } {
  const variables = Object.fromEntries(env.map((variable) => [variable.name, variableValue(host, variable)]));
  const type = host === "vscode" && { type: "stdio" };
  return { ...type, command, args, ...(env.length > 0 && { env: variables }) };
}

function variableValue(host: HostName, { name, value = "", secret = false }: HostVariable): string {
  if (!secret) return value;
  return HOSTS[host].secret?.(name) ?? `<paste ${name} here>`;
}

function entryText(host: HostName, launch: ServerLaunch, start: Launch): string {
  if (host === "codex") return codexText(launch, start);
  const inputs = host === "vscode" ? vscodeInputs(launch) : [];
  const key = host === "vscode" ? "servers" : host === "zed" ? "context_servers" : "mcpServers";
  const servers = { [launch.serverKey]: serverEntry(host, launch, start) };
  return `${jsonText({ ...(inputs.length > 0 && { inputs }), [key]: servers })}\n`;
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

/** Codex takes secrets from its own environment: `env_vars` names those that it hands on. */
function codexText({ serverKey, env = [] }: ServerLaunch, { command, args }: Launch): string {
  const secrets = secretNames(env);
  const plain = env.filter((variable) => variable.secret !== true);
  const entry = {
    command,
    args,
    ...(secrets.length > 0 && { env_vars: secrets }),
    ...(plain.length > 0 && { env: Object.fromEntries(plain.map(({ name, value = "" }) => [name, value])) }),
  };
  return stringify({ mcp_servers: { [serverKey]: entry } });
}

function secretNames(env: readonly HostVariable[]): string[] {
  return env.filter((variable) => variable.secret === true).map((variable) => variable.name);
}

/** The hosts' own commands, for a POSIX shell. Options come before the server's name, as Claude Code demands. */
function shellCommandOf(host: HostName, launch: ServerLaunch): string | undefined {
  if (host !== "claude-code" && host !== "codex") return undefined;
  const { env = [], serverKey } = launch;
  if (host === "codex" && secretNames(env).length > 0) return undefined;
  const { command, args } = launchOf(launch);
  const variables = env.flatMap((variable) => ["--env", `${variable.name}=${variableValue(host, variable)}`]);
  const words =
    host === "codex"
      ? ["codex", "mcp", "add", serverKey, ...variables, "--", command, ...args]
      : ["claude", "mcp", "add", ...variables, "--scope", "project", serverKey, "--", command, ...args];
  return words.map(shellWord).join(" ");
}

function notesOf(host: HostName, launch: ServerLaunch): string[] {
  const { title, secret, replaces, notes = [] } = HOSTS[host];
  const secrets = secretNames(launch.env ?? []).join(" and ");
  const replaced = launchOf(launch).args.filter((arg) => replaces?.test(arg) === true);
  const found: string[] = [];
  if (secrets !== "" && host === "vscode")
    found.push(
      `${title} asks for ${secrets} and keeps it encrypted. It does not pass servers that ask on to Copilot sessions.`,
    );
  else if (secrets !== "" && secret !== undefined)
    found.push(`Set ${secrets} in the environment that ${title} starts in.`);
  else if (secrets !== "") found.push(`Replace the placeholder of ${secrets} by the value.`);
  if (replaced.length > 0)
    found.push(
      `${title} takes $ in an argument for the start of a variable; check ${replaced.map(shellWord).join(" and ")}.`,
    );
  return [...found, ...notes];
}

function windowsNotesOf(launch: ServerLaunch): string[] {
  const { args } = launchOf(launch);
  const special = launch.command === undefined ? args.filter((arg) => /[&|<>^%"!]/.test(arg)) : [];
  if (special.length === 0) return [];
  return [
    `cmd gives & | < > ^ % " ! a meaning; pass ${special.map(shellWord).join(" and ")} through env instead.`,
  ];
}
