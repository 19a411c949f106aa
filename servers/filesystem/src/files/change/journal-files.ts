import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@refmcp/boundary";
import * as z from "zod";
import { type Change, parseRecord } from "./record.ts";

const ID = "[0-9a-z]{9}-[0-9a-f]{6}";
const RECORD_NAME = new RegExp(`^(${ID})\\.(\\d+)(?:\\.(${ID}))?\\.json$`);
export const IMAGE_NAME = new RegExp(`^(${ID})\\.\\d+$`);
/** The file in a journal that names its directory. */
export const OWNER_NAME = "directory.json";
const owner = z.object({ path: z.string(), days: z.number() });

/** The beginning of the ids of this time; ids sort by time. */
export function idAt(time: number): string {
  return time.toString(36).padStart(9, "0");
}

/** A recorded change. */
export interface Entry {
  readonly directory: string;
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  readonly undoes: string | undefined;
}

export function recordName({ id, undoes }: Pick<Change, "id" | "undoes">, bytes: number): string {
  return `${id}.${bytes}${undoes === undefined ? "" : `.${undoes}`}.json`;
}

/** The changes of a journal by time. */
export async function entriesIn(directory: string): Promise<Entry[]> {
  const entries = (await namesIn(directory)).flatMap((name) => {
    const [, id, bytes, undoes] = RECORD_NAME.exec(name) ?? [];
    return id === undefined ? [] : [{ directory, id, name, bytes: Number(bytes), undoes }];
  });
  return entries.sort(byId);
}

export function byId(a: Entry, b: Entry): number {
  return a.id < b.id ? -1 : 1;
}

export async function parsed({ directory, name }: Pick<Entry, "directory" | "name">) {
  try {
    return parseRecord(await readFile(join(directory, name), "utf8"));
  } catch {
    // Another process has pruned it, or it is damaged.
    return undefined;
  }
}

/** All journals, each with its directory and the days that it keeps a change. */
export async function* journalsIn(all: string) {
  for (const name of await namesIn(all)) {
    const directory = join(all, name);
    const journal = await readFile(join(directory, OWNER_NAME), "utf8")
      .then((text) => owner.parse(JSON.parse(text)))
      .catch(() => undefined);
    if (journal !== undefined) yield { directory, ...journal };
  }
}

export async function removeOrphans(
  directory: string,
  isKnown: (id: string) => boolean,
  ageMs: number,
): Promise<void> {
  const oldest = idAt(Date.now() - ageMs);
  for (const name of await namesIn(directory).catch(() => [])) {
    const id = IMAGE_NAME.exec(name)?.[1];
    if (id === undefined || id >= oldest || isKnown(id)) continue;
    await rm(join(directory, name), { recursive: true, force: true });
  }
}

/** None before the first change, when the directory does not exist yet. */
async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
}
