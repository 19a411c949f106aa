import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { explain, isReachInside } from "./explain.ts";
import type { GuardContext } from "./guard-context.ts";
import { reach } from "./reach.ts";
import { leadsOutside, readOnly } from "./refusals.ts";
import { storedName } from "./stored-name.ts";
import { errorCode } from "./system-error.ts";
import type { GuardedDirectory } from "./types.ts";

export interface MadeDirectories {
  /** The requested directory, opened and verified. */
  readonly directory: GuardedDirectory;
  /** Those that were created, outermost first. */
  readonly created: string[];
}

/**
 * Opens the directory at `path`, creating it and missing parents. Each is created in its opened and verified
 * parent, so that no swapped link can redirect it outside.
 */
export async function makeDirectories(path: string, context: GuardContext): Promise<MadeDirectories> {
  const created: string[] = [];
  const reached = await reach(path);
  if (!(await isReachInside(reached, context))) throw leadsOutside(path, context.bound);
  const start = reached.direct ? ancestor(path, reached.missing.length) : reached.real;
  let directory: GuardedDirectory | undefined;
  try {
    directory = await context.opener.openDirectory(reached.real, start);
    for (const asked of reached.missing) {
      const name = (await storedName(directory, asked)) ?? asked;
      const at = join(directory.path, name);
      if (await makeIn(directory, name, path)) created.push(at);
      const next: GuardedDirectory = await context.opener.openDirectory(directory.entry(name), at);
      await directory.close();
      directory = next;
    }
    return { directory, created };
  } catch (error) {
    await directory?.close();
    throw await explain(error, path, context);
  }
}

/** Creates one directory; false if something already exists, even if another program just created it. */
async function makeIn(directory: GuardedDirectory, name: string, path: string): Promise<boolean> {
  if (!directory.directory.writable) throw readOnly(path, directory.directory);
  await directory.verify();
  try {
    await mkdir(directory.entry(name));
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
  await directory.verify();
  return true;
}

function ancestor(path: string, levels: number): string {
  return levels === 0 ? path : ancestor(dirname(path), levels - 1);
}
