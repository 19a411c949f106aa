import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OptionTable, ServerDefinition } from "@refmcp/core";
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

/** A server with only its lists loaded; the first call loads its code. */
export interface Installed {
  readonly name: ServerName;
  /** The beginning of the URLs of its code. */
  readonly folder: string;
  readonly definition: LazyServer<unknown>;
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
  const bin = binOf(name);
  const folder = new URL(".", pathToFileURL(bin)).href;
  const record: { outline: Outline; options: OptionTable } = JSON.parse(
    readFileSync(join(dirname(bin), "catalog.json"), "utf8"),
  );
  const options: OptionTable = isConfigured
    ? (await import(`${folder}options.js`)).options
    : record.options;
  const load = async (): Promise<ServerDefinition<unknown>> => {
    const { server }: { server: ServerDefinition<unknown> } = await import(
      `${folder}definition.js`
    );
    const open: typeof server.open = async (opening) => {
      const context = await server.open(opening);
      // From now on it can list more resources than its fixed ones.
      setImmediate(opening.resourcesChanged);
      return context;
    };
    return { ...server, open };
  };
  const definition = { ...lazyServer(record.outline, options, load), views: folder };
  return { name, folder, definition };
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
