import { shownRelation } from "../read/page.ts";
import { batches } from "../store/connection.ts";
import type { Store } from "../store/store.ts";
import { idsOf, type ObservationRow } from "../types.ts";
import { entityLine, relationLine } from "./jsonl.ts";
import { FreeNames, type Note, noteOf } from "./markdown.ts";

const BATCH = 500;

/**
 * The whole graph as the official server's lines of JSON, with times, sources and superseded observations in fields that
 * it ignores.
 */
export function exportLines(store: Store): Promise<string> {
  return store.read(async (reader) => {
    const lines: string[] = [];
    for await (const rows of batches((after, limit) => reader.entityPage(after, limit), BATCH)) {
      const facts = new Map<number, ObservationRow[]>(rows.map(({ id }) => [id, []]));
      for (const row of await reader.observationsOf(idsOf(rows), "kept"))
        facts.get(row.entityId)?.push(row);
      for (const row of rows) lines.push(entityLine(row, facts.get(row.id) ?? []));
    }
    for await (const rows of batches((after, limit) => reader.relationPage(after, limit), BATCH))
      lines.push(...rows.map((row) => relationLine(shownRelation(row))));
    return lines.join("\n");
  });
}

/** The current graph as Markdown notes, one for each entity, with names that are free in one directory. */
export function exportNotes(store: Store): Promise<Note[]> {
  return store.read(async (reader) => {
    const names = new FreeNames();
    const notes: Note[] = [];
    for await (const rows of batches((after, limit) => reader.entityPage(after, limit), BATCH)) {
      const facts = await reader.observationsOf(idsOf(rows));
      const relations = await reader.relationsOf(idsOf(rows), { column: "from_id" });
      for (const row of rows)
        notes.push(
          noteOf(
            names.take(row.name),
            row,
            facts.filter(({ entityId }) => entityId === row.id).map(({ content }) => content),
            relations.filter(({ fromId }) => fromId === row.id),
          ),
        );
    }
    return notes;
  });
}
