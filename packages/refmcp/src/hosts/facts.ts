import type { Launch } from "@refmcp/core/run";
import type { HostName } from "./host-names.ts";

export type Json = string | number | boolean | readonly Json[] | { readonly [key: string]: Json };

export interface EntryVariables {
  /** All variables; a secret's value refers to where the host gets it. */
  readonly all: Readonly<Record<string, string>>;
  /** Those that are not secrets. */
  readonly plain: Readonly<Record<string, string>>;
  /** The names of the secrets. */
  readonly secrets: readonly string[];
}

/** A file in which a host keeps its servers. */
export interface HostPlace {
  /** `project`: relative to its folder; `user`: for all projects. */
  readonly scope: "project" | "user";
  readonly platform: "any" | "macOS" | "Linux" | "Windows";
  /**
   * In the platform's notation. For `any`, it has slashes. `~` is the home directory; Windows variables are `%NAME%`.
   */
  readonly path: string;
  /** Which installation reads this file, if several differ. */
  readonly installation?: string;
  /**
   * The host, or an older version of it, reads a file that exists here. A new file belongs to a place without this mark.
   */
  readonly alternative?: true;
}

export interface HostFacts {
  readonly title: string;
  /** The host's documentation of the format: the source of these facts. */
  readonly documentation: string;
  /** Other sources, for what the documentation leaves out. */
  readonly sources?: readonly string[];
  /**
   * The day on which these facts were last compared with the newest copy of the sources that could be read: YYYY-MM-DD.
   * `pnpm check` and a release fail when it is more than three months ago.
   */
  readonly checked: string;
  /** All known configuration files, the preferred one of each scope and platform first. */
  readonly places: readonly HostPlace[];
  /** Where the user enters it, if the host has no known file. */
  readonly dialog?: string;
  /** The key of the file that lists servers, or the keys on the way to it; default: `mcpServers`. */
  readonly key?: string | readonly string[];
  /** Default: `json`. `jsonc` allows comments and trailing commas. */
  readonly format?: "json" | "jsonc" | "toml" | "yaml";
  /** Builds the entry of a server, if it differs from `command`, `args` and `env`. */
  readonly entry?: (start: Launch, variables: EntryVariables, serverKey: string) => HostEntryJson;
  /** How an entry refers to a secret that the host gets elsewhere. If absent, the user pastes it into the file. */
  readonly secret?: (name: string) => string;
  /** Matches what the host treats as a variable in an argument. */
  readonly replaces?: RegExp;
  /**
   * The host's own command that adds the server NAME with the variables ENV, up to `--`. Without ENV it cannot set
   * variables. A function gives the words of a command that takes the entry as JSON.
   */
  readonly adds?: string | ((serverKey: string, entry: HostEntryJson) => readonly string[]);
  /** The link that installs a server, unless the host cannot install this one. */
  readonly link?: InstallLink;
  /** A link that works offline, in addition to one that needs the host's web site. */
  readonly appLink?: InstallLink;
  /** What the user does after the file has changed, as a sentence. */
  readonly restart: string;
  readonly notes?: readonly string[];
  readonly windowsNotes?: readonly string[];
}

/** The entry of a server, without the file around it. */
export type HostEntryJson = { readonly [key: string]: Json };

type InstallLink = (
  serverKey: string,
  entry: HostEntryJson,
  /** VS Code's questions to the user. */
  inputs: readonly Json[],
) => string | undefined;

export type HostTable = Readonly<Record<HostName, HostFacts>>;

/** Places in a project, the preferred one first. */
export function inProject(path: string, ...alternatives: readonly string[]): HostPlace[] {
  return places("project", "any", [path, ...alternatives]);
}

/** Places in the home directory of every platform, the preferred one first. */
export function inHome(path: string, ...alternatives: readonly string[]): HostPlace[] {
  return places("user", "any", [path, ...alternatives]);
}

/** Places on one platform, the preferred one first. */
export function on(
  platform: "macOS" | "Linux" | "Windows",
  path: string,
  ...alternatives: readonly string[]
): HostPlace[] {
  return places("user", platform, [path, ...alternatives]);
}

/** Places on macOS and Linux, the preferred one first. */
export function onUnix(path: string, ...alternatives: readonly string[]): HostPlace[] {
  return [...on("macOS", path, ...alternatives), ...on("Linux", path, ...alternatives)];
}

/** Marks places as read by one of several installations only. */
export function readBy(installation: string, read: readonly HostPlace[]): HostPlace[] {
  return read.map((place) => ({ ...place, installation }));
}

function places(
  scope: HostPlace["scope"],
  platform: HostPlace["platform"],
  paths: readonly string[],
): HostPlace[] {
  return paths.map((path, index) => ({
    scope,
    platform,
    path,
    ...(index > 0 && { alternative: true as const }),
  }));
}

export const braced = (name: string) => `\${${name}}`;
export const bracedEnv = (name: string) => `\${env:${name}}`;
export const itself = (name: string) => name;
/** What such hosts replace in arguments. */
export const BRACES = /\$\{/;
export const SHELL_VARIABLES = /\$[A-Za-z_{]/;

/** The member `name` of an entry, unless its value is empty. */
export const unlessEmpty = (name: string, value: readonly string[] | EntryVariables["all"]) =>
  Object.keys(value).length > 0 && { [name]: value };

/** `command`, `args` and, if there are any, `env`. */
export function ordinaryEntry({ command, args }: Launch, { all }: Pick<EntryVariables, "all">) {
  return { command, args, ...unlessEmpty("env", all) };
}

/** The same with `type: "stdio"`, which some hosts require. */
export function typedEntry(start: Launch, variables: EntryVariables) {
  return { type: "stdio", ...ordinaryEntry(start, variables) };
}

/** The id of an input in VS Code: `DATABASE_URL` → `database-url`. */
export function inputId(variable: string): string {
  return variable.toLowerCase().replaceAll("_", "-");
}

/** A web page that opens the host, with the server's name and its entry in the query. */
export function pageLink(page: string, encode: "json" | "base64" = "json"): InstallLink {
  return (serverKey, entry, inputs) => {
    const json = JSON.stringify(entry);
    const config = encode === "base64" ? Buffer.from(json).toString("base64") : json;
    const asked = inputs.length === 0 ? "" : `&inputs=${queryValue(JSON.stringify(inputs))}`;
    return `${page}?name=${queryValue(serverKey)}${asked}&config=${queryValue(config)}`;
  };
}

/** Encodes a value for a link, including parentheses, which would end a link in Markdown. */
export function queryValue(text: string): string {
  return encodeURIComponent(text).replaceAll("(", "%28").replaceAll(")", "%29");
}
