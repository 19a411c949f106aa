import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { OptionTable } from "@refmcp/core/internal/define/options";
import type { LazyServer } from "@refmcp/core/internal/define/server";
import { lazyServer, type Outline } from "@refmcp/core/lazy";

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

/** A server's package, with what its build recorded for listing it: no code of the server is loaded. */
export interface Installed {
  readonly name: ServerName;
  /** The file that node runs. */
  readonly bin: string;
  /** Lists the server's tools, prompts and resources; none of them can run here. */
  readonly definition: LazyServer<never>;
}

const { resolve } = createRequire(import.meta.url);

/** The file that starts a server. @throws {Error} if its package is not installed. */
export function binOf(name: ServerName): string {
  return join(dirname(resolve(`@refmcp/server-${name}/package.json`)), "dist", "bin.js");
}

/** Reads what a server's build recorded. @throws {Error} if its package is not installed or not built. */
export function installed(name: ServerName): Installed {
  const bin = binOf(name);
  const recorded: { outline: Outline<never>; options: OptionTable } = JSON.parse(
    readFileSync(join(dirname(bin), "catalog.json"), "utf8"),
  );
  // Whether a server opens once its tools are listed is up to its process.
  const { warm: _, ...outline } = recorded.outline;
  const definition = lazyServer(outline, recorded.options, () =>
    Promise.reject(new TypeError(`${name} runs in another process`)),
  );
  return { name, bin, definition };
}
