import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import type { HostPlace } from "../hosts/facts.ts";
import type { HostName } from "../hosts/host-names.ts";
import { allHosts, type Host, placesOn } from "../hosts/hosts.ts";
import type { SetupIo } from "./io.ts";

type Machine = Pick<SetupIo, "env" | "home" | "platform">;

/** A file of a host on this machine. */
export interface KnownPlace {
  /** Absolute. */
  readonly file: string;
  readonly scope: HostPlace["scope"];
  readonly installation: string | undefined;
  /** Whether the host's folder exists, so that it is probably installed. */
  readonly isPresent: boolean;
}

/** A host with its files on this machine. */
export interface KnownHost extends Pick<Host, "title" | "format" | "keyPath" | "restart"> {
  readonly id: HostName;
  readonly places: readonly KnownPlace[];
}

/** Directories that contain a folder for each program. */
const BASES = [
  "~/.config/",
  "~/Library/Application Support/",
  "%LOCALAPPDATA%/Packages/",
  "%APPDATA%/",
  "%LOCALAPPDATA%/",
  "%USERPROFILE%/",
  "~/",
];

/** Variables that move a host's folder, and the folder without them. */
const MOVED: readonly (readonly [variable: string, folder: string])[] = [
  ["CODEX_HOME", "~/.codex"],
  ["CLAUDE_CONFIG_DIR", "~"],
];

/** All hosts of the table that have files on this platform, with their places. */
export function knownHosts(io: Machine, projectDirectory: string): KnownHost[] {
  const hosts = allHosts().map((host) => ({ host, places: placesOn(host, io.platform) }));
  const folders = hosts.flatMap(({ host, places }) =>
    [
      ...new Set(
        places.filter(({ scope }) => scope === "user").map((place) => ownFolder(place.path)),
      ),
    ].map((folder) => ({ folder, id: host.id })),
  );
  const isShared = (folder: string) =>
    new Set(folders.filter((one) => one.folder === folder).map(({ id }) => id)).size > 1;
  return hosts.map(({ host, places }) => ({
    id: host.id,
    title: host.title,
    format: host.format,
    keyPath: host.keyPath,
    restart: host.restart,
    places: places.flatMap((place) => placesOf(place, host.id, io, projectDirectory, isShared)),
  }));
}

function placesOf(
  place: HostPlace,
  host: HostName,
  io: Machine,
  projectDirectory: string,
  isShared: (folder: string) => boolean,
): KnownPlace[] {
  const { scope, installation } = place;
  if (scope === "project") {
    const file = path.resolve(projectDirectory, local(place.path));
    return [{ file, scope, installation, isPresent: existsSync(file) }];
  }
  const folder = ownFolder(place.path);
  // Two hosts with one folder are told apart by the folders in it.
  const isDeeper = place.path.replaceAll("\\", "/").startsWith(`${folder}/`);
  const shows = isShared(folder) && isDeeper ? place.path.replace(/[\\/][^\\/]+$/, "") : folder;
  const isInstalled = expand(anyPublisher(shows), host, io).some(isDirectory);
  return expand(anyPublisher(place.path), host, io).map((file) => {
    return { file, scope, installation, isPresent: isInstalled || existsSync(file) };
  });
}

const local = (file: string) => file.replaceAll(/[\\/]/g, path.sep);

/** The folder of the program itself: `~/.config/zed/settings.json` → `~/.config/zed`, `~/.claude.json` → `~/.claude`. */
function ownFolder(file: string): string {
  const slashed = file.replaceAll("\\", "/");
  const base = BASES.find((one) => slashed.startsWith(one)) ?? "";
  const rest = slashed.slice(base.length);
  const name = rest.split("/", 1)[0] ?? "";
  return base + (name === rest ? name.replace(/(?<=.)\.\w+$/, "") : name);
}

/** A package of the Microsoft Store ends in a hash of its publisher, which another build may not have. */
function anyPublisher(file: string): string {
  return file.replace(/([\\/]Packages[\\/][\w.]+_)[a-z0-9]{13}(?=[\\/]|$)/, "$1*");
}

/** Absolute paths for a path of the table; with `*` those that exist. */
function expand(file: string, host: HostName, { env, home, platform }: Machine): string[] {
  let text = file.replaceAll("\\", "/");
  for (const [variable, folder] of MOVED) {
    const value = env[variable];
    const isIts =
      (variable === "CODEX_HOME" && host === "codex") ||
      (variable === "CLAUDE_CONFIG_DIR" && host === "claude-code");
    if (isIts && value !== undefined && value !== "" && text.startsWith(`${folder}/`))
      text = value + text.slice(folder.length);
  }
  const config = env.XDG_CONFIG_HOME;
  if (
    platform === "linux" &&
    config !== undefined &&
    path.isAbsolute(config) &&
    text.startsWith("~/.config/")
  )
    text = config + text.slice("~/.config".length);
  text = text.replace(/^~(?=\/|$)/, () => home);
  const unset: string[] = [];
  text = text.replace(/%(\w+)%/g, (_, name: string) => {
    const value = env[name] ?? (name === "USERPROFILE" ? home : undefined);
    if (value === undefined) unset.push(name);
    return value ?? "";
  });
  return unset.length > 0 ? [] : withStars(local(text));
}

function withStars(file: string): string[] {
  const parts = file.split(path.sep);
  const index = parts.findIndex((part) => part.includes("*"));
  if (index === -1) return [file];
  const [start = "", end = ""] = (parts[index] ?? "").split("*");
  const parent = parts.slice(0, index).join(path.sep);
  return namesIn(parent)
    .filter((name) => name.startsWith(start) && name.endsWith(end))
    .map((name) => [parent, name, ...parts.slice(index + 1)].join(path.sep));
}

function namesIn(directory: string): string[] {
  return isDirectory(directory) ? readdirSync(directory).toSorted() : [];
}

function isDirectory(directory: string): boolean {
  return statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * The file that the host reads in a scope: of its first installation on this machine the file that exists, or else the
 * preferred one. Undefined if the host is not on this machine.
 */
export function fileToWrite(
  host: KnownHost,
  scope: HostPlace["scope"],
  isWanted: boolean,
): KnownPlace | undefined {
  const places = host.places.filter((place) => place.scope === scope);
  const first = places.find((place) => place.isPresent) ?? (isWanted ? places[0] : undefined);
  if (first === undefined) return undefined;
  const same = places.filter(({ installation }) => installation === first.installation);
  return same.find(({ file }) => existsSync(file)) ?? first;
}
