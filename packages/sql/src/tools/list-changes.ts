import { cursorsOf, fitCount } from "@refmcp/boundary/answer";
import { toolFor } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { orderOf, type RecordedChange } from "../change/store.ts";
import type { Databases, Kind } from "../databases.ts";
import { database, tableCounts } from "./fields.ts";

const listedChange = z.object({
  change_id: z.string(),
  time: z.string(),
  statements: z.array(z.string()),
  tables: z.array(tableCounts),
  /** Whether it can be undone, provided that its rows are unchanged since. */
  can_undo: z.boolean(),
  undone_by: z.string().optional(),
  undoes: z.string().optional(),
  note: z.string().optional(),
});

export const listChangesTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.listChanges,
    title: "List changes",
    description: `List changes made through this server, newest first, for review or ${kind.names.undoChange}.`,
    effect: "read",
    openWorld: false,
    needs: "allowWrite",
    aliases: kind.aliases.listChanges ?? [],
    input: z.strictObject({
      limit: fields.limit(20, 200),
      cursor: fields.cursor,
      database: database(kind),
    }),
    output: z.object({ changes: z.array(listedChange), next_cursor: fields.nextCursor }),
    async run({ limit, cursor, database }, databases, { signal, budget }) {
      const at = await databases.at(database);
      const cursors = cursorsOf(kind.names.listChanges, at.identity, z.string());
      const last = cursors.decode(cursor);
      const recorded = await at.settled(await databases.changes.list(at.identity), { signal });
      const rest = recorded.filter((change) => last === undefined || orderOf(change) < last);
      const changes = rest.map(listed);
      const count = Math.min(limit, fitCount(changes, budget - 200));
      const next = count < rest.length ? rest[count - 1] : undefined;
      return {
        changes: changes.slice(0, count),
        ...(next === undefined ? {} : { next_cursor: cursors.encode(orderOf(next)) }),
      };
    },
  });

const PENDING = "The server ended during this change, so it may not have been committed.";

function listed(change: RecordedChange): z.output<typeof listedChange> {
  const { id, time, statements, tables, undoneBy, undoes, isPending } = change;
  return {
    change_id: id,
    time,
    statements: statements.slice(0, 5).map((sql) => sql.slice(0, 200)),
    tables: tables.slice(0, 50).map((counts) => ({ ...counts })),
    can_undo: undoneBy === undefined,
    ...(undoneBy === undefined ? {} : { undone_by: undoneBy }),
    ...(undoes === undefined ? {} : { undoes }),
    ...(isPending ? { note: PENDING } : {}),
  };
}
