import { type EntryVariable, type Launch, shellWord } from "@refmcp/core/run";
import { stringify } from "smol-toml";
import type { Host, HostEntry } from "./host.ts";
import { ordinary } from "./hosts.ts";

/** What an entry starts. */
export interface ServerLaunch {
  /** The server's name in the host. */
  readonly name: string;
  readonly start: Launch;
  readonly env?: readonly EntryVariable[];
}

const isSecret = ({ secret }: EntryVariable) => secret === true;

/** The entry of a server in the form of a host. It never contains a secret. */
export function entryOf(host: Host, { name, start, env = [] }: ServerLaunch): HostEntry {
  const secrets = env.filter(isSecret).map((variable) => variable.name);
  const values = env.filter((variable) => !isSecret(variable));
  const plain = Object.fromEntries(values.map(({ name, value = "" }) => [name, value]));
  const reference = host.secret ?? ((secret) => `<paste ${secret} here>`);
  const all = Object.fromEntries(secrets.map((secret) => [secret, reference(secret)]));
  return (host.entry ?? ordinary)({ name, ...start, env: { ...all, ...plain }, plain, secrets });
}

/** The keys on the way to a server's entry. */
export const entryPath = ({ keys = ["mcpServers"] }: Host, name: string) => [...keys, name];

/** A complete file with only this entry, ending in a line break. */
export function fileText(host: Host, name: string, entry: HostEntry): string {
  const nest = (inner: HostEntry, key: string): HostEntry => ({ [key]: inner });
  const file = entryPath(host, name).reduceRight(nest, entry);
  if (host.format === "yaml") return yamlText(file);
  return host.format === "toml" ? stringify(file) : `${JSON.stringify(file, undefined, 2)}\n`;
}

/** YAML for objects; other values are JSON, which is also YAML. */
function yamlText(value: object, indent = ""): string {
  const fields = Object.entries(value).map(([name, item]) =>
    typeof item !== "object" || Array.isArray(item)
      ? `${indent}${name}: ${JSON.stringify(item)}\n`
      : `${indent}${name}:\n${yamlText(item, `${indent}  `)}`,
  );
  return fields.join("");
}

/** The host's own command that adds a server, for a POSIX shell; undefined if it has none that can add this one. */
export function shellCommand(host: Host, launch: ServerLaunch): string | undefined {
  // Without a reference to the secret, the command would contain it, visible to every user of the machine.
  if (host.secret === undefined && launch.env?.some(isSecret) === true) return undefined;
  return host.adds?.(launch.name, entryOf(host, launch))?.map(shellWord).join(" ");
}

/** What the user does after the entry has been added. */
export const restartOf = ({ restart }: Host) =>
  restart ?? "Start a new session, and check the server with /mcp.";

/** Where an entry goes and what to do then, in lines for a person. */
export function guidanceOf(host: Host, launch: ServerLaunch, platform: NodeJS.Platform): string {
  const { title, project, note = [], source } = host;
  const [user] = placesOn(host, platform);
  const places = [user && `${user} (all your projects)`, project && `${project} (this project)`];
  const where = places.filter((place) => place !== undefined).join(" or ");
  const command = platform === "win32" ? undefined : shellCommand(host, launch);
  const lines = [
    `${title}: add this to ${where || "the host's list of MCP servers"}.`,
    "Keep what is already there.",
    ...(command === undefined ? [] : [`Or run: ${command}`]),
    ...(launch.env ?? []).filter(isSecret).map(({ name }) => {
      const where = host.secret === undefined ? "this entry" : `the environment of ${title}`;
      return `Set the value of ${name} in ${where}.`;
    }),
    restartOf(host),
    ...[note].flat(),
    `More: ${source[0]}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** The places of the host's file on a system, as people write them there. */
export function placesOn({ files }: Host, platform: NodeJS.Platform): readonly string[] {
  const system = platform === "win32" || platform === "darwin" ? platform : "linux";
  const places = files[system].map((place) => place.replace("|", ""));
  if (system !== "win32") return places;
  return places.map((place) => place.replace(/^~/, "%USERPROFILE%").replaceAll("/", "\\"));
}
