import { open, writeFile } from "node:fs/promises";
import { ToolError } from "@refmcp/core/answer";
import { type Imported, importMemory, rejectsFile } from "./import.ts";
import type { Place } from "./place.ts";
import { openPostgresStore } from "./postgres/store.ts";
import { tooLarge } from "./sqlite/failures.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import { IMPORTED, type ImportNote } from "./stats.ts";
import type { Store } from "./store.ts";

/** The largest memory file that is imported, in bytes. */
export const LARGEST_IMPORT = 1024 ** 3;

/**
 * Opens the memory at a place. A database that is to be made from an official file gets that file's content first;
 * the file itself is only read.
 *
 * @param note is told in one sentence what was imported.
 * @throws ToolError where the place cannot be opened or the file not be read; see the stores.
 */
export async function openStore(place: Place, note: (sentence: string) => void): Promise<Store> {
  if (place.kind === "postgres") return openPostgresStore(place.url, place.space);
  const store = await openSqliteStore(place.file);
  try {
    if (place.importFrom !== undefined) await importOnce(store, place.importFrom, place.file, note);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function importOnce(
  store: Store,
  source: string,
  database: string,
  note: (sentence: string) => void,
): Promise<void> {
  if ((await store.read((reader) => reader.meta(IMPORTED))) !== undefined) return;
  const bytes = await readWhole(source);
  if (bytes === undefined) return;
  const imported = await importMemory(store, bytes, {
    action: "import_graph",
    source: source.slice(0, 500),
    once: {
      key: IMPORTED,
      note: (tally, rejected) =>
        JSON.stringify({
          path: source,
          at: new Date().toISOString(),
          entities: tally.entities + tally.created_for_relations,
          relations: tally.relations,
          rejected,
        } satisfies ImportNote),
    },
  });
  const rejects = await keepRejects(imported, source, database);
  note(
    `Imported ${imported.entities} entities and ${imported.relations} relations from ${source} into ${database}; the file is left as it is.${rejects}`,
  );
}

/** The bytes of a file; undefined where there is none. */
async function readWhole(file: string): Promise<Uint8Array | undefined> {
  try {
    const handle = await open(file, "r");
    try {
      const { size } = await handle.stat();
      if (size > LARGEST_IMPORT) throw tooLarge(file, size, LARGEST_IMPORT);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    if (code === "ENOENT") return undefined;
    throw new ToolError("unavailable", `The memory file ${file} cannot be read: ${code}.`, {
      hint: "Check that it is a file that this user may read, or name another one with --file.",
      cause,
    });
  }
}

/** Writes what could not be read beside the source, or where that cannot be written to, beside the database. */
async function keepRejects({ rejects }: Imported, source: string, database: string): Promise<string> {
  if (rejects.length === 0) return "";
  for (const place of [`${source}.rejects`, `${database}.rejects`]) {
    try {
      await writeFile(place, rejectsFile(rejects), { mode: 0o600 });
      return ` ${rejects.length} lines could not be read; they are in ${place}.`;
    } catch {
      // Tried at the next place; the source still has them.
    }
  }
  return ` ${rejects.length} lines could not be read; they stay in ${source}.`;
}
