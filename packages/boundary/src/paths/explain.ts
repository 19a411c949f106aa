import { opendir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { nearest, ToolError } from "../answer/errors.ts";
import { directoryAround, unavailableAround } from "./check.ts";
import { deepestExisting, type ExistingPart, existingPart } from "./existing.ts";
import { hasForms, storedForm } from "./names.ts";
import {
  directoryUnavailable,
  errorCode,
  isMissing,
  leadsOutside,
  listed,
  pathFailure,
  quote,
  systemError,
} from "./path-errors.ts";
import type { GuardContext, GuardedDirectory } from "./types.ts";

/** Opens a directory for some work; undefined if it cannot be opened, or the work fails. */
async function tryIn<Result>(
  path: string,
  { opener }: GuardContext,
  work: (directory: GuardedDirectory) => Promise<Result>,
): Promise<Result | undefined> {
  let directory: GuardedDirectory | undefined;
  try {
    directory = await opener.openDirectory(path, path);
    return await work(directory);
  } catch {
    return undefined;
  } finally {
    await directory?.close();
  }
}

/** Whether the deepest existing part of a path is inside, and with it what is missing below. */
export async function isInsideNow({ real }: ExistingPart, context: GuardContext): Promise<boolean> {
  if (directoryAround(real, context.allowed) !== undefined) return true;
  return (await tryIn(real, context, async () => true)) === true;
}

/** `path`, or if a name in it is missing, the path with the other Unicode form of the name (NFC, NFD) that exists. */
export async function storedPath(path: string, context: GuardContext): Promise<string> {
  if (!hasForms(path)) return path;
  const { real, missing } = await deepestExisting(path);
  const [name, ...others] = missing;
  if (name === undefined) return path;
  const stored = await tryIn(real, context, async (directory) =>
    storedForm(name, await readdir(directory.entry(""))),
  );
  return stored === undefined ? path : storedPath(join(real, stored, ...others), context);
}

/** Why a path cannot be used whose existing part is outside now: the same whether it exists or not. */
export async function refusalOf(
  path: string,
  existing: ExistingPart,
  context: GuardContext,
): Promise<ToolError | undefined> {
  if (await isInsideNow(existing, context)) return undefined;
  const directory = unavailableAround(path, context.allowed);
  return directory === undefined
    ? leadsOutside(path, context.allowed)
    : directoryUnavailable(path, directory);
}

/**
 * The error to throw for `path`, with an explanation. Everything outside the allowed directories gets the same `denied`,
 * whether it exists or not.
 */
export async function explain(
  error: unknown,
  path: string,
  context: GuardContext,
): Promise<unknown> {
  if (error instanceof ToolError || errorCode(error) === undefined) return error;
  const existing = await existingPart(path);
  const refusal = await refusalOf(path, existing, context);
  if (refusal !== undefined) return refusal;
  return isMissing(error) ? missingError(path, existing, context) : systemError(error, path);
}

/** `not_found`, with the nearest existing directory and the names in it that are similar to the missing one. */
async function missingError(
  path: string,
  { real, missing: [name], written }: ExistingPart,
  context: GuardContext,
): Promise<ToolError> {
  if (name === undefined) {
    const what = `${quote(path)} appeared or disappeared during this operation.`;
    return pathFailure("changed_meanwhile", what, { hint: "Retry." });
  }
  const found = await stat(real).catch(() => undefined);
  if (found?.isDirectory() !== true) {
    const hint = "Use the file itself, or a path inside a directory.";
    return pathFailure("enoent", `${quote(path)} does not exist: ${quote(written)} is a file.`, {
      hint,
    });
  }
  const similar = nearest(name, await namesIn(real, context));
  const near = similar.length > 0 ? ` and contains ${listed(similar.map(quote))}` : "";
  const what = `does not exist; the nearest existing directory is ${quote(written)}${near}`;
  const hint =
    similar.length > 0
      ? "Use one of these names, or list the directory."
      : "List that directory to see its contents.";
  return pathFailure("enoent", `${quote(path)} ${what}.`, { hint });
}

/** How many names in a directory are compared with a missing one. */
const MAX_NAMES_COMPARED = 5000;

/** The names that could be read, since suggestions are optional. */
async function namesIn(path: string, context: GuardContext): Promise<string[]> {
  const names: string[] = [];
  await tryIn(path, context, async (directory) => {
    for await (const entry of await opendir(directory.entry(""))) {
      names.push(entry.name);
      if (names.length === MAX_NAMES_COMPARED) break;
    }
  });
  return names;
}
