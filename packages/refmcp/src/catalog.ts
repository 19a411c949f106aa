import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OptionTable } from "@refmcp/core";
import { type LazyServer, lazyServer, type Outline } from "@refmcp/core/run";

/** The servers that this package depends on. */
export const SERVER_NAMES = [
  "fetch",
  "filesystem",
  "git",
  "memory",
  "playwright",
  "postgres",
  "sqlite",
] as const;
export type ServerName = (typeof SERVER_NAMES)[number];

/** A server of which only the lists are loaded; the first call loads its code. */
export interface Installed {
  readonly name: ServerName;
  /** The beginning of the URLs of its code. */
  readonly folder: string;
  readonly definition: LazyServer<never>;
}

const { resolve } = createRequire(import.meta.url);

/** The file that starts a server. @throws {Error} if its package is not installed. */
export function binOf(name: ServerName): string {
  return join(dirname(resolve(`@refmcp/server-${name}/package.json`)), "dist", "bin.js");
}

/**
 * Reads what a server's build recorded.
 *
 * @param isConfigured whether the user sets an option of it. The record has no functions, so only the server's own table
 *   can check values.
 * @throws {Error} if its package is not installed or not built.
 */
export async function installed(name: ServerName, isConfigured = false): Promise<Installed> {
  const folder = dirname(binOf(name));
  const record: { outline: Outline<never>; options: OptionTable } = JSON.parse(
    readFileSync(join(folder, "catalog.json"), "utf8"),
  );
  const module = (file: string) => import(pathToFileURL(join(folder, file)).href);
  const options: OptionTable = isConfigured ? (await module("options.js")).options : record.options;
  // A server that opens ahead of its first call would do so for every client that lists all tools.
  const { warm: _, ...outline } = record.outline;
  const url = `${pathToFileURL(folder).href}/`;
  const server = lazyServer(outline, options, async () => (await module("definition.js")).server);
  return { name, folder: url, definition: { ...server, open: opened(server), views: url } };
}

/** Opens a server at its first call. From then on it can list more resources than its fixed ones. */
function opened({ open, resources = [] }: LazyServer<never>): LazyServer<never>["open"] {
  return async (opening) => {
    const context = await open(opening);
    if (resources.some(({ lists }) => lists)) setImmediate(opening.resourcesChanged);
    return context;
  };
}

/** All servers, with their own option tables where the command line or the environment sets options. */
export function allInstalled(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<readonly Installed[]> {
  const names = Object.keys(env);
  return Promise.all(
    SERVER_NAMES.map((name) => {
      const prefix = `REFMCP_${name.toUpperCase()}_`;
      const isConfigured =
        argv.some((word) => word.startsWith(`--${name}.`)) ||
        names.some((variable) => variable.startsWith(prefix));
      return installed(name, isConfigured);
    }),
  );
}
