import { opendir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { nearest, ToolError } from "../answer/errors.ts";
import { unavailableAround } from "./membership.ts";
import type { GuardContext } from "./open.ts";
import { type Reach, reach } from "./reach.ts";
import { gone, leadsOutside } from "./refusals.ts";
import { errorCode, isMissing, listed, quote, systemError } from "./system-error.ts";
import type { GuardedDirectory } from "./types.ts";

/** How many names in a directory are compared with a missing one. */
const MAX_NAMES_COMPARED = 5000;

/**
 * The error to throw for `path`, with an explanation. Everything outside the bound gets the same `denied`, whether it
 * exists or not.
 */
export async function explain(error: unknown, path: string, context: GuardContext): Promise<unknown> {
  if (error instanceof ToolError || errorCode(error) === undefined) return error;
  const reached = await reach(path);
  if (!(await isReachInside(reached, context))) {
    const directory = unavailableAround(path, context.bound);
    return directory === undefined ? leadsOutside(path, context.bound) : gone(path, directory);
  }
  return isMissing(error) ? missing(path, reached, context) : systemError(error, path);
}

/** Whether the deepest existing part of a path is inside, and with it what is missing below. */
export async function isReachInside({ real }: Reach, { opener, membership }: GuardContext): Promise<boolean> {
  if (membership.surelyAround(real) !== undefined) return true;
  try {
    const opened = await opener.openDirectory(real, real);
    await opened.close();
    return true;
  } catch {
    return false;
  }
}

/** `not_found`, with the nearest existing directory and the names in it that are similar to the missing one. */
async function missing(path: string, reached: Reach, context: GuardContext): Promise<ToolError> {
  const [name] = reached.missing;
  if (name === undefined) {
    return new ToolError("conflict", `${quote(path)} appeared or disappeared during this operation.`, {
      code: "changed_meanwhile",
      hint: "Retry.",
    });
  }
  const ancestor = reached.direct ? ancestorOf(path, reached.missing.length) : reached.real;
  const say = (detail: string, hint: string): ToolError =>
    new ToolError("not_found", `${quote(path)} does not exist${detail}.`, { code: "enoent", hint });

  const found = await stat(reached.real).catch(() => undefined);
  if (found?.isDirectory() !== true) {
    return say(`: ${quote(ancestor)} is a file`, "Use the file itself, or a path inside a directory.");
  }
  const similar = nearest(name, await namesIn(reached.real, context));
  const near = similar.length > 0 ? ` and contains ${listed(similar.map(quote))}` : "";
  const nearestExisting = `; the nearest existing directory is ${quote(ancestor)}${near}`;
  return say(
    nearestExisting,
    similar.length > 0
      ? "Use one of these names, or list the directory."
      : "List that directory to see its contents.",
  );
}

export function ancestorOf(path: string, levels: number): string {
  return levels === 0 ? path : ancestorOf(dirname(path), levels - 1);
}

async function namesIn(path: string, { opener }: GuardContext): Promise<string[]> {
  let directory: GuardedDirectory | undefined;
  const names: string[] = [];
  try {
    directory = await opener.openDirectory(path, path);
    for await (const entry of await opendir(directory.entry(""))) {
      names.push(entry.name);
      if (names.length === MAX_NAMES_COMPARED) break;
    }
  } catch {
    // The suggested names are optional.
  } finally {
    await directory?.close();
  }
  return names;
}
