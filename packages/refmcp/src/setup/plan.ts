import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import type { EntryVariable } from "@refmcp/core/run";
import { entryOf, entryPath } from "../hosts/entry.ts";
import type { Host, HostEntry } from "../hosts/host.ts";
import { startOf } from "./check.ts";
import { entryAt, readConfig, SetupProblem, withEntry, writeConfig } from "./file.ts";
import type { InstalledHost, Machine } from "./machine.ts";
import { remember } from "./undo.ts";

/** The name of the entry in every host. */
export const NAME = "refmcp";

export const does = ({ does = [] }: Host, what: "roots" | "search") => does.includes(what);

/** What the entries contain. */
export interface Settings {
  /** Empty if none is named. */
  readonly directories: readonly string[];
  /** Whether they are allowed also where the host reports the open project. */
  readonly isFixed: boolean;
  readonly findsTools: boolean;
  readonly args: readonly string[];
  readonly env: readonly EntryVariable[];
}

export type Plan = ReturnType<typeof planOf>;

/** The change of a host's file. @throws {SetupProblem} */
export function planOf(installed: InstalledHost, settings: Settings, bin: string) {
  const { host, file } = installed;
  const follows = does(host, "roots") && !settings.isFixed;
  const directories = follows ? [] : settings.directories;
  if (!follows && directories.length === 0)
    throw new SetupProblem("is left out: the host reports no open project. Name a folder, DIR.");
  const finding = settings.findsTools && !does(host, "search") ? ["--find-tools"] : [];
  const args = [bin, ...directories, ...settings.args, ...finding];
  const start = { command: process.execPath, args };
  const fresh = entryOf(host, { name: NAME, start, env: settings.env });
  const path = entryPath(host, NAME);
  const config = readConfig(file, host.format);
  const before = entryAt(config.data, path);
  if (before !== undefined && !isOurs(before, bin))
    throw new SetupProblem(`has another program as ${path.join(".")}, which stays.`);
  const entry = merged(before ?? {}, fresh);
  const isDone = host.format === "yaml" || isDeepStrictEqual(entry, before);
  const text = isDone ? config.text : withEntry(config, host.format, path, entry);
  return { ...installed, path, entry, config, before: before ?? null, text };
}

/** Whether an entry starts refmcp. */
function isOurs(entry: HostEntry, bin: string): boolean {
  const own = /(?:^|[\\/])refmcp(?:@[\w.^~-]+|\.cmd|[\\/](?:.*[\\/])?dist[\\/]bin\.js)?$/;
  const words = startOf(entry).words.slice(0, 6);
  return words.some((word) => word === bin || own.test(word));
}

/** The new entry with what the user added to the old one: approved tools, and variables. */
function merged(old: HostEntry, fresh: HostEntry): HostEntry {
  const variables = ["env", "envs", "environment"].filter((key) => key in old);
  const both = variables.map((key) => [key, { ...Object(fresh[key]), ...Object(old[key]) }]);
  return { ...old, ...fresh, ...Object.fromEntries(both) };
}

/** Adds an entry by the host's own command where that is better, or in the file. */
export async function writePlan(plan: Plan, record: string, { env, home }: Machine): Promise<void> {
  const { id, host, file, path, entry, config, before, text } = plan;
  await remember(record, file, { host: id, path, before, after: entry });
  const words = host.isRun === true && before === null ? host.adds?.(NAME, entry) : undefined;
  const [program = "", ...args] = words ?? [];
  const isIn = (folder: string) => existsSync(join(folder, program));
  if (program !== "" && env.PATH?.split(delimiter).some(isIn) === true) {
    const options = { env: { ...env }, cwd: home, timeout: 20_000 };
    await promisify(execFile)(program, args, options).catch(() => undefined);
    if (entryAt(readConfig(file, host.format).data, path) !== undefined) return;
  }
  await writeConfig(config, text, before === null);
}
