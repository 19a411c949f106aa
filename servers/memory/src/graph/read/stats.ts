import type { Store } from "../store/store.ts";

/** The store's note about the file that it was imported from. */
export type ImportNote = {
  readonly path: string;
  readonly at: string;
  /** The size of the file at that time. */
  readonly bytes: number;
  readonly entities: number;
  readonly relations: number;
  readonly rejected: number;
};

const TYPES = 20;
const ORPHANS = 10;

/** Parses the stored note. */
export function importNoteOf(text: string | undefined): ImportNote | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}

/** Counts, the location, and the file that the memory was imported from. */
export async function memoryStats(store: Store, space: string) {
  const size = await store.size();
  return store.read(async (reader) => {
    const [latest] = await reader.changes(undefined, 1);
    const imported = importNoteOf(await reader.meta(IMPORTED));
    const orphans = await reader.orphans(ORPHANS);
    return {
      store: store.kind,
      location: store.location,
      space,
      size_bytes: size,
      total: await reader.counts(),
      // Soft-deleted rows, which undo can restore.
      deleted: await reader.counts("removed"),
      entity_types: await reader.typeCounts("entity", TYPES),
      relation_types: await reader.typeCounts("relation", TYPES),
      orphans: {
        count: orphans.count,
        names: orphans.names.map((name) => name.slice(0, 200).toWellFormed()),
      },
      last_change: latest && { change_id: latest.id, at: new Date(latest.at).toISOString() },
      imported_from: imported,
    };
  });
}

/** The key of the stored note. */
export const IMPORTED = "imported_from";
