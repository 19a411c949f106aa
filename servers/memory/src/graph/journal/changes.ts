import { cursorsOf, fitCount } from "@refmcp/boundary/answer";
import * as z from "zod";
import { natural } from "../read/page.ts";
import type { Store } from "../store/store.ts";

/** How many entities that a change affected are named, and in how many of its rows they are looked for. */
const [NAMES, ROWS] = [5, 200];
const FRAME = 300;

/** The journal, newest first. */
export async function recentChanges(
  store: Store,
  { limit, cursor, budget }: { limit: number; cursor?: string | undefined; budget: number },
) {
  const cursors = cursorsOf("recent_changes", [], z.object({ before: natural }));
  const before = cursors.decode(cursor)?.before;
  return store.read(async (reader) => {
    const rows = await reader.changes(before, limit + 1);
    const entries = [];
    for (const row of rows.slice(0, limit)) {
      const names = await reader.touchedNames(row.id, ROWS);
      entries.push({
        change_id: row.id,
        at: new Date(row.at).toISOString(),
        action: row.action,
        summary: row.summary || "erased permanently",
        names: names.slice(0, NAMES).map((name) => name.slice(0, 200).toWellFormed()),
        source: row.source ?? undefined,
        undone_by: row.undoneBy ?? undefined,
        undoes: row.undoes ?? undefined,
        permanent: row.hard || undefined,
      });
    }
    const changes = entries.slice(0, fitCount(entries, budget - FRAME));
    const last = changes.at(-1);
    const isMore = last !== undefined && rows.length > changes.length;
    return {
      changes,
      next_cursor: isMore ? cursors.encode({ before: last.change_id }) : undefined,
    };
  });
}
