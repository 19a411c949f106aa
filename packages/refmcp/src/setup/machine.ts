import { existsSync } from "node:fs";
import { dirname, isAbsolute, normalize } from "node:path";
import type { Host } from "../hosts/host.ts";
import { HOST_NAMES, HOSTS, type HostName } from "../hosts/hosts.ts";

/** Where `setup` looks for hosts. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/** A host on this machine, with its file. */
export interface InstalledHost {
  readonly id: HostName;
  readonly host: Host;
  readonly file: string;
}

/** The hosts of this machine; with names, these, even if they are not found. */
export function installedHosts(names: readonly string[], machine: Machine): InstalledHost[] {
  return HOST_NAMES.flatMap((id) => {
    if (names.length > 0 && !names.includes(id)) return [];
    const host = HOSTS[id];
    const { platform } = machine;
    const system = platform === "win32" || platform === "darwin" ? platform : "linux";
    const places = host.files[system].flatMap((place) => placeOn(place, host, machine) ?? []);
    const present = places.filter(({ file, folder }) => existsSync(file) || existsSync(folder));
    const first = present[0] ?? (names.length > 0 ? places[0] : undefined);
    // Several files of one installation: the existing one.
    const same = present.find(({ file, folder }) => folder === first?.folder && existsSync(file));
    const file = (same ?? first)?.file;
    return file === undefined ? [] : [{ id, host, file }];
  });
}

/** Absolute paths of a place; undefined if a variable in it is not set. */
function placeOn(place: string, { moved }: Host, { env, home, platform }: Machine) {
  const config = platform === "linux" ? env.XDG_CONFIG_HOME : undefined;
  const moves: [string, string | undefined][] = [["~/.config", config]];
  if (moved !== undefined) moves.push([moved[1], env[moved[0]]]);
  let path = place;
  for (const [folder, target] of moves)
    if (target !== undefined && isAbsolute(target) && path.startsWith(`${folder}/`))
      path = target + path.slice(folder.length);
  const [, name] = /^%(\w+)%/.exec(path) ?? [];
  const base = name === undefined ? home : env[name];
  if (base === undefined) return undefined;
  path = path.replace(/^(?:~|%\w+%)(?=\/)/, () => base);
  const file = normalize(path.replace("|", ""));
  return { file, folder: path.includes("|") ? normalize(path.split("|")[0] ?? "") : dirname(file) };
}
