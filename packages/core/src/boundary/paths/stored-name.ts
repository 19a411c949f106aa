import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { GuardContext } from "./guard-context.ts";
import { reach } from "./reach.ts";
import type { GuardedDirectory } from "./types.ts";

/**
 * Whether `text` has more than one Unicode form, so that a name may be stored in a form other than the
 * requested one.
 */
export function hasForms(text: string): boolean {
  return text.normalize("NFC") !== text.normalize("NFD");
}

/** The entry of `directory` that is `name` in another Unicode form (NFC, NFD), where `name` itself does not exist. */
export async function storedName(directory: GuardedDirectory, name: string): Promise<string | undefined> {
  if (!hasForms(name)) return undefined;
  const composed = name.normalize("NFC");
  const names = await readdir(directory.entry(""));
  return names.includes(name) ? undefined : names.find((one) => one.normalize("NFC") === composed);
}

/** `path` with the missing name as stored; undefined if no form of the name exists. */
export async function storedPath(
  path: string,
  { opener, membership }: GuardContext,
): Promise<string | undefined> {
  if (!hasForms(path)) return undefined;
  const { real, missing } = await reach(path);
  const [name, ...others] = missing;
  if (name === undefined || membership.around(real) === undefined) return undefined;
  let directory: GuardedDirectory | undefined;
  try {
    directory = await opener.openDirectory(real, real);
    const stored = await storedName(directory, name);
    return stored === undefined ? undefined : join(directory.realPath, stored, ...others);
  } catch {
    return undefined;
  } finally {
    await directory?.close();
  }
}
