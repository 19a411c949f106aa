import { createRequire } from "node:module";
import { ToolError } from "@refmcp/boundary/answer";
import type Database from "better-sqlite3";

export type Sqlite = typeof Database;

/**
 * Why a version of better-sqlite3 does not run on this Node.js, or undefined if it does. Version 13 needs Node-API 10, which
 * Node.js has since 22.14 and 23.6; on older versions, opening a database crashes the process.
 *
 * @param version the version of better-sqlite3, for example `13.2.0`.
 * @param runtime as in `process.versions`.
 */
export function versionProblem(
  version: string,
  runtime: { readonly node: string; readonly napi?: string | undefined },
): string | undefined {
  const [major = 0] = version.split(".").map(Number);
  if (major < 13 || Number(runtime.napi ?? 0) >= 10) return undefined;
  return `better-sqlite3 ${version} needs Node.js 22.14 or newer; this is Node.js ${runtime.node}.`;
}

/**
 * Loads better-sqlite3, a native module, on first use.
 *
 * @param otherwise an alternative for the hint, for example `, or use PostgreSQL`
 * @throws ToolError `unavailable` if it is missing, too new for this Node.js or built for another version of it.
 */
export async function loadSqlite(otherwise = ""): Promise<Sqlite> {
  try {
    const manifest: { version?: unknown } = createRequire(import.meta.url)(
      "better-sqlite3/package.json",
    );
    const problem = versionProblem(String(manifest.version ?? 0), process.versions);
    if (problem !== undefined)
      throw new ToolError("unavailable", problem, {
        hint: `Update Node.js, or install better-sqlite3@^12.11 next to this server${otherwise}.`,
      });
    const Sqlite = (await import("better-sqlite3")).default;
    // The binary is loaded by the first database that is opened, not by the import.
    new Sqlite(":memory:").close();
    return Sqlite;
  } catch (cause) {
    throw cause instanceof ToolError ? cause : notLoaded(cause, otherwise);
  }
}

function notLoaded(cause: unknown, otherwise: string): ToolError {
  const text = cause instanceof Error ? cause.message : String(cause);
  const isOther = /NODE_MODULE_VERSION|different Node\.js version/.test(text);
  const problem = isOther
    ? `better-sqlite3 was built for another version of Node.js; this is Node.js ${process.versions.node}.`
    : "better-sqlite3 is not installed, or has no binary for this platform.";
  return new ToolError("unavailable", problem, {
    hint: `Run npm rebuild better-sqlite3 where this server is installed, with this Node.js; in a clone, run npm start${otherwise}.`,
    cause,
  });
}
