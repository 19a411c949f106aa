import type { Store } from "./store.ts";
import type { Counts } from "./types.ts";

export interface Stats {
  readonly store: "sqlite" | "postgres";
  readonly location: string;
  readonly space: string;
  readonly size_bytes: number;
  readonly total: Counts;
  /** Soft-deleted rows, which undo can bring back. */
  readonly deleted: Counts;
  readonly entity_types: { type: string; count: number }[];
  readonly relation_types: { type: string; count: number }[];
  /** Entities without any relation. */
  readonly orphans: { count: number; names: string[] };
  readonly last_change?: { change_id: number; at: string };
  /** The file that was imported when the memory was made. */
  readonly imported_from?: ImportNote;
}

/** What the store remembers of the file that it was made from. */
export type ImportNote = {
  readonly path: string;
  readonly at: string;
  /** The size of the file then. */
  readonly bytes: number;
  readonly entities: number;
  readonly relations: number;
  readonly rejected: number;
};

const TYPES = 20;
const ORPHANS = 10;

/** The note as the store keeps it. */
export function importNoteOf(text: string | undefined): ImportNote | undefined {
  return text === undefined ? undefined : JSON.parse(text);
}

/** What the memory holds, in numbers. */
export async function memoryStats(store: Store, space: string): Promise<Stats> {
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
      deleted: await reader.counts("removed"),
      entity_types: await reader.typeCounts("entity", TYPES),
      relation_types: await reader.typeCounts("relation", TYPES),
      orphans: {
        count: orphans.count,
        names: orphans.names.map((name) => name.slice(0, 200).toWellFormed()),
      },
      ...(latest === undefined
        ? {}
        : { last_change: { change_id: latest.id, at: new Date(latest.at).toISOString() } }),
      ...(imported === undefined ? {} : { imported_from: imported }),
    };
  });
}

/** The key under which the store remembers the file that it was made from. */
export const IMPORTED = "imported_from";
