import { createRequire } from "node:module";
import { ToolError } from "@refmcp/core/answer";
import type Database from "better-sqlite3";

export type Sqlite = typeof Database;

/**
 * Why a version of better-sqlite3 does not run on a version of Node.js, or undefined where it does. Its version 13
 * needs Node.js 22; loading it on 20 would end in a message about symbols or in a crash.
 *
 * @param version of better-sqlite3, for example `13.2.0`.
 * @param node as in `process.versions.node`.
 */
export function versionProblem(version: string, node: string): string | undefined {
  const [major = 0] = version.split(".").map(Number);
  const [nodeMajor = 0] = node.split(".").map(Number);
  if (major < 13 || nodeMajor >= 22) return undefined;
  return `better-sqlite3 ${version} needs Node.js 22 or newer; this is Node.js ${node}.`;
}

/**
 * Loads better-sqlite3, a native part, when it is used first and not before.
 *
 * @param otherwise what else can be done where it cannot be had, for the hint
 * @throws ToolError `unavailable` where it is missing, too new for this Node.js or built for another one.
 */
export async function loadSqlite(otherwise = ""): Promise<Sqlite> {
  const problem = versionProblem(installedVersion(otherwise), process.versions.node);
  if (problem !== undefined)
    throw new ToolError("unavailable", problem, {
      hint: "Update Node.js, or install better-sqlite3@^12.11 beside this server.",
    });
  try {
    return (await import("better-sqlite3")).default;
  } catch (cause) {
    throw notLoaded(cause, otherwise);
  }
}

function installedVersion(otherwise: string): string {
  try {
    const manifest: unknown = createRequire(import.meta.url)("better-sqlite3/package.json");
    if (typeof manifest === "object" && manifest !== null && "version" in manifest)
      return String(manifest.version);
  } catch (cause) {
    throw notLoaded(cause, otherwise);
  }
  return "0";
}

function notLoaded(cause: unknown, otherwise: string): ToolError {
  const text = cause instanceof Error ? cause.message : String(cause);
  const other = /NODE_MODULE_VERSION|different Node\.js version/.test(text);
  return new ToolError(
    "unavailable",
    other
      ? `better-sqlite3 was built for another Node.js than ${process.versions.node}.`
      : "better-sqlite3 is not installed or could not be built.",
    {
      hint: `Run npm rebuild better-sqlite3 where this server is installed${otherwise}.`,
      cause,
    },
  );
}
