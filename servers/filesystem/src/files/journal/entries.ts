import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@refmcp/boundary";
import * as z from "zod";

const ENTRY_NAME = /^([0-9a-z]{9}-[0-9a-f]{6})\.(\d+)(?:\.([0-9a-z]{9}-[0-9a-f]{6}))?\.json$/;
/** What the name of an image in a trash begins with: the id of its change. */
export const ENTRY_ID = /^[0-9a-z]{9}-[0-9a-f]{6}(?:\.\d+)?$/;
const IMAGE_NAME = /^([0-9a-z]{9}-[0-9a-f]{6})\.image$/;
/** The file in a journal that names its directory. */
export const OWNER_NAME = "directory.json";
const ownerSchema = z.object({ path: z.string(), days: z.number() });
/** An image without an entry that is older than this was left by a crash; a newer one may still be in progress. */
const ORPHAN_MS = 3_600_000;

export interface Entry {
  readonly directory: string;
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  readonly undoes: string | undefined;
}

export function idAt(time: number): string {
  return time.toString(36).padStart(9, "0");
}

/** Where the image of a change is or will be stored. */
export function imagePath(directory: string, id: string): string {
  return join(directory, `${id}.image`);
}

/** The name of a change's record. */
export function entryName(
  { id, undoes }: { id: string; undoes?: string | undefined },
  bytes: number,
): string {
  return `${id}.${bytes}${undoes === undefined ? "" : `.${undoes}`}.json`;
}

/** The entries of a journal by time. */
export async function entriesIn(directory: string): Promise<Entry[]> {
  const found: Entry[] = [];
  for (const name of await namesIn(directory)) {
    const [, id, bytes, undoes] = ENTRY_NAME.exec(name) ?? [];
    if (id !== undefined) found.push({ directory, id, name, bytes: Number(bytes), undoes });
  }
  return found.sort(byId);
}

export function byId(a: Entry, b: Entry): number {
  return a.id < b.id ? -1 : 1;
}

/** All journals, each with its directory and the days that it keeps a change. */
export async function* journalsIn(all: string) {
  for (const name of await namesIn(all)) {
    const directory = join(all, name);
    const owner = await readFile(join(directory, OWNER_NAME), "utf8")
      .then((text) => ownerSchema.parse(JSON.parse(text)))
      .catch(() => undefined);
    if (owner !== undefined) yield { directory, ...owner };
  }
}

export async function removeFiles({
  directory,
  id,
  name,
}: Pick<Entry, "directory" | "id" | "name">) {
  await rm(join(directory, name), { force: true });
  await rm(imagePath(directory, id), { recursive: true, force: true });
}

/** Removes what crashes left behind: images and drafts without an entry. */
export async function removeOrphans(directory: string, known: ReadonlySet<string>): Promise<void> {
  const oldest = idAt(Date.now() - ORPHAN_MS);
  for (const name of await namesIn(directory)) {
    const id = IMAGE_NAME.exec(name)?.[1] ?? (name.endsWith(".tmp") ? name : undefined);
    if (id === undefined || known.has(id) || id >= oldest) continue;
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
