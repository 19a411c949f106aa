import { cursorsOf, fitting } from "@refmcp/boundary/answer";
import { naturals } from "../read/page.ts";
import type { Reader, Store } from "../store/store.ts";
import type { ChangeRow } from "../types.ts";
import { describeItems } from "./undo.ts";

const NAMES = 5;
const FRAME = 300;

/** The journal, newest first. */
export async function recentChanges(
  store: Store,
  { limit, cursor, budget }: { limit: number; cursor?: string | undefined; budget: number },
) {
  const cursors = cursorsOf("recent_changes", [], naturals("before"));
  const before = cursors.decode(cursor)?.before;
  return store.read(async (reader) => {
    const rows = await reader.changes(before, limit + 1);
    const all = await showChanges(reader, rows.slice(0, limit));
    const changes = all.slice(0, fitting(all, budget - FRAME));
    const last = changes.at(-1);
    return {
      changes,
      next_cursor:
        last === undefined || rows.length <= changes.length
          ? undefined
          : cursors.encode({ before: last.change_id }),
    };
  });
}

async function showChanges(reader: Reader, rows: readonly ChangeRow[]) {
  const shown = [];
  for (const row of rows) {
    const items = await reader.itemsOf(row.id);
    const touched = [...new Set(items.map(({ entityId }) => entityId))].slice(0, NAMES);
    const entities = await reader.entitiesById(touched);
    shown.push({
      change_id: row.id,
      at: new Date(row.at).toISOString(),
      action: row.action,
      summary: describeItems(items) || (row.hard ? "erased permanently" : "nothing left to restore"),
      // Some of the entities that it affected.
      names: touched.flatMap((id) => entities.get(id)?.name.slice(0, 200).toWellFormed() ?? []),
      source: row.source ?? undefined,
      undone_by: row.undoneBy ?? undefined,
      undoes: row.undoes ?? undefined,
      permanent: row.hard || undefined,
    });
  }
  return shown;
}
