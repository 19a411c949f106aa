import { existsSync } from "node:fs";
import path from "node:path";
import type { Json } from "../hosts/facts.ts";
import { type Step, valueAt } from "./edit.ts";
import { isRecord } from "./formats/text-format.ts";
import type { KnownHost } from "./known-hosts.ts";

/** An entry of a host's file that starts a server of refmcp. */
export interface FoundEntry {
  readonly name: string;
  /** Where it is in the file. */
  readonly path: readonly string[];
  readonly entry: { readonly [key: string]: unknown };
  /** Whether the host reads entries there. */
  readonly isRead: boolean;
}

/** How a host starts an entry's server. */
export interface EntryStart {
  readonly command: string;
  readonly args: readonly string[];
  /** As in the entry, with references to other variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the host passes on from its own environment. */
  readonly passed: readonly string[];
  readonly cwd: string | undefined;
}

/** The members of an entry that set variables, in all hosts. */
const ENVIRONMENT_KEYS = ["env", "environment", "envs"];
const PASSED_KEYS = ["env_vars", "env_keys"];

/** Where the entry `name` of a host is in its file. */
export function entryPath({ keyPath }: Pick<KnownHost, "keyPath">, name: string): string[] {
  return [...keyPath, name];
}

/** What an entry starts; undefined if it has no command (a server over HTTP). */
export function startOfEntry(entry: { readonly [key: string]: unknown }): EntryStart | undefined {
  const words = [entry.command ?? entry.cmd ?? []]
    .flat()
    .filter((word) => typeof word === "string");
  const [command, ...first] = words;
  if (command === undefined) return undefined;
  const env = ENVIRONMENT_KEYS.flatMap((key) =>
    isRecord(entry[key]) ? Object.entries(entry[key]) : [],
  );
  return {
    command,
    args: [...first, ...textsOf(entry.args)],
    env: Object.fromEntries(env.map(([name, value]) => [name, String(value)])),
    passed: PASSED_KEYS.flatMap((key) => textsOf(entry[key])),
    cwd: typeof entry.cwd === "string" ? entry.cwd : undefined,
  };
}

/** Directories in the arguments that do not exist. An option's value may be a file that is created later. */
export function absentDirectories({ args }: EntryStart): string[] {
  return args.filter((word, index) => {
    const before = args[index - 1] ?? "";
    const isOptionValue = before.startsWith("--") && !before.includes("=");
    return path.isAbsolute(word) && !isOptionValue && !existsSync(word);
  });
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The bin of a clone, and the names of the packages with any version. */
const OWN_FILE =
  /(?:^|[\\/])(?:servers[\\/][a-z-]+|packages[\\/]refmcp|@refmcp[\\/]server-[a-z-]+|node_modules[\\/]refmcp)[\\/]dist[\\/]bin\.js$/;
const OWN_PACKAGE = /^(?:refmcp|@refmcp\/server-[a-z-]+)(?:@[\w.^~-]+)?$/;
const OWN_PROGRAM = /(?:^|[\\/])refmcp(?:-server-[a-z-]+)?(?:\.cmd)?$/;

/** Whether an entry starts a server of refmcp, and not another program with the same name. */
export function isOurs(entry: unknown, ownFiles: readonly string[] = []): boolean {
  const start = isRecord(entry) ? startOfEntry(entry) : undefined;
  if (start === undefined) return false;
  // The server's own arguments could contain anything: the program comes before them.
  const words = [start.command, ...start.args.slice(0, 5)];
  return (
    OWN_PROGRAM.test(start.command) ||
    words.some((word) => OWN_PACKAGE.test(word) || OWN_FILE.test(word) || ownFiles.includes(word))
  );
}

/** All entries of refmcp in a host's file, wherever they are. */
export function findEntries(
  host: KnownHost,
  data: unknown,
  ownFiles: readonly string[] = [],
): FoundEntry[] {
  const found: FoundEntry[] = [];
  const read = JSON.stringify(host.keyPath);
  const last = host.keyPath.at(-1);
  function walk(node: unknown, path: readonly string[]): void {
    if (path.length > 8) return;
    if (!isRecord(node)) return;
    for (const [key, item] of Object.entries(node)) visit(item, key, [...path, key]);
  }
  function visit(item: unknown, name: string, path: readonly string[]): void {
    if (!isRecord(item) || !isOurs(item, ownFiles)) {
      walk(item, path);
      return;
    }
    const holder = path.slice(0, -1);
    // Claude Code also keeps servers of one project in its file: projects.DIR.mcpServers.
    const isOfProject = holder[0] === "projects" && holder.at(-1) === last;
    found.push({ name, path, entry: item, isRead: JSON.stringify(holder) === read || isOfProject });
  }
  walk(data, []);
  return found;
}

/**
 * The new entry with what the user added to the old one: other members, such as approved tools, and values of
 * variables.
 */
export function mergeEntry(
  old: { readonly [key: string]: unknown },
  entry: { readonly [key: string]: Json },
): { [key: string]: Json } {
  // A host that has changed its format would still find the old command.
  const { command: _, cmd: _cmd, args: _args, ...others } = old;
  const merged: { [key: string]: unknown } = { ...others, ...entry };
  for (const key of ENVIRONMENT_KEYS) {
    const [before, after] = [old[key], entry[key]];
    if (!isRecord(before)) continue;
    const kept = Object.entries(before).filter(([name]) => {
      const value = isRecord(after) ? after[name] : undefined;
      return value === undefined || (typeof value === "string" && isReference(value));
    });
    merged[key] = { ...(isRecord(after) ? after : {}), ...Object.fromEntries(kept) };
  }
  for (const key of PASSED_KEYS) {
    if (Array.isArray(old[key]))
      merged[key] = [...new Set([...textsOf(old[key]), ...textsOf(entry[key])])];
  }
  return merged as { [key: string]: Json };
}

/** The values of an entry's file that must not be shown: variables, headers, and members with a telling name. */
export function secretsIn(data: unknown): string[] {
  const found = new Set<string>();
  const holders = new Set([...ENVIRONMENT_KEYS, "headers", "http_headers"]);
  const telling = /key|token|secret|passw|credential|authorization/i;
  (function walk(node: unknown, isSecret: boolean): void {
    if (typeof node === "string") {
      if (isSecret && !isReference(node)) found.add(node);
      // The password of a URL.
      for (const [, password = ""] of node.matchAll(/\/\/[^\s/:@]*:([^\s/@]+)@/g))
        if (!isReference(password)) found.add(password);
      // `--api-key=VALUE`
      const option = /^--?[\w-]*(?:key|token|secret|password)[\w-]*=(.+)$/i.exec(node)?.[1];
      if (option !== undefined && !isReference(option)) found.add(option);
    } else if (Array.isArray(node)) {
      for (const [index, item] of node.entries()) {
        const before: unknown = node[index - 1];
        walk(
          item,
          isSecret ||
            (typeof before === "string" &&
              /^--?[\w-]*(?:key|token|secret|password)[\w-]*$/i.test(before)),
        );
      }
    } else if (isRecord(node)) {
      for (const [key, item] of Object.entries(node))
        walk(item, isSecret || holders.has(key) || (telling.test(key) && typeof item === "string"));
    }
  })(data, false);
  return [...found].filter((text) => text !== "").toSorted((a, b) => b.length - a.length);
}

/** A text that refers to a secret instead of containing it. */
export function isReference(text: string): boolean {
  return /^(?:\$\{[^}]*\}|\{(?:env|file):[^}]*\}|\$[A-Za-z_]\w*|<paste \w+ here>)$/.test(text);
}

/** The entry at a path, if it is an object. */
export function entryAt(
  data: unknown,
  path: readonly Step[],
): { readonly [key: string]: unknown } | undefined {
  const found = valueAt(data, path);
  return isRecord(found) ? found : undefined;
}
