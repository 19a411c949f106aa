import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./path-errors.ts";

/**
 * Creates a directory and any missing parents. Succeeds if it already exists. Use it instead of Node.js's recursive `mkdir`,
 * which creates the parents and retries after every ENOENT: below /proc, mkdir(2) always fails with it, so that never ends.
 *
 * @throws the operating system's error; below /proc EPERM, mkdir(2)'s code for a file system without new directories
 */
export function ensureDirectory(path: string, mode = 0o777): void {
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) ensureDirectory(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    if (errorCode(error) !== "ENOENT" || !existsSync(parent)) throw error;
    const message = `EPERM: this file system does not support creating directories, mkdir '${path}'`;
    throw Object.assign(new Error(message, { cause: error }), { code: "EPERM" });
  }
}
