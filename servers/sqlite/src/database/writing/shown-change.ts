import type { WriteAnswer } from "../connection/protocol.ts";

/** What a change did, as the tools answer it. */
export function shownChange({ committed, changes, lastRowId, loss, undo, returned }: WriteAnswer) {
  return {
    committed,
    affected_rows: [...changes],
    ...(lastRowId === "0" ? {} : { last_insert_rowid: lastRowId }),
    ...(loss === undefined ? {} : { loss }),
    ...(undo.length === 0 ? {} : { undo: [...undo] }),
    ...(returned.length === 0
      ? {}
      : {
          returned: returned.map(({ statement, columns, rows, more }) => ({
            statement,
            columns: [...columns],
            rows: rows.map((row) => [...row]),
            ...(more === 0 ? {} : { more_rows: more }),
          })),
        }),
  };
}
