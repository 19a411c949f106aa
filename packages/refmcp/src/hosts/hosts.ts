import { AGENTS } from "./agents.ts";
import { APPS } from "./apps.ts";
import { EDITORS } from "./editors.ts";
import type { HostFacts, HostPlace, HostTable } from "./facts.ts";
import { HOST_NAMES, type HostName } from "./host-names.ts";

/** Facts from each host's documentation, by the name for `--print-config`. */
export const HOSTS: HostTable = { ...APPS, ...EDITORS, ...AGENTS };

/** A host with its name, and the defaults of its facts filled in. */
export interface Host extends HostFacts {
  readonly id: HostName;
  readonly format: NonNullable<HostFacts["format"]>;
  /** The keys on the way to the servers in the file. */
  readonly keyPath: readonly string[];
}

/** All hosts in the order of the documentation. */
export function allHosts(): Host[] {
  return HOST_NAMES.map(hostOf);
}

/** The facts of one host. */
export function hostOf(id: HostName): Host {
  const facts = HOSTS[id];
  return {
    ...facts,
    id,
    format: facts.format ?? "json",
    keyPath: [facts.key ?? "mcpServers"].flat(),
  };
}

/** The host's files on a platform, the preferred one of each scope first. */
export function placesOn(
  { places }: Pick<HostFacts, "places">,
  platform: NodeJS.Platform,
): HostPlace[] {
  const system = platform === "win32" ? "Windows" : platform === "darwin" ? "macOS" : "Linux";
  return places.filter((place) => place.platform === "any" || place.platform === system);
}

/** How many months the facts of a host count as current. */
const CURRENT_MONTHS = 3;

/**
 * The hosts whose facts were last compared with their documentation more than three months before a day.
 *
 * @param today YYYY-MM-DD
 */
export function overdueHosts(
  today: string,
  hosts: readonly Pick<Host, "id" | "checked">[] = allHosts(),
) {
  return hosts.filter(({ checked }) => {
    const due = new Date(`${checked}T00:00:00Z`);
    due.setUTCMonth(due.getUTCMonth() + CURRENT_MONTHS);
    return due < new Date(`${today}T00:00:00Z`);
  });
}
