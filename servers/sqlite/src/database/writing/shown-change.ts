import type { WriteAnswer } from "../connection/protocol.ts";
import type { Change } from "./write.ts";

/** The effect of changes, as `changeOutput`. */
export function shownChange(changes: readonly Change[], answer: WriteAnswer) {
  const { committed, lastRowId, loss, undo, returned } = answer;
  const isShort = returned.some(({ more }) => more > 0);
  return {
    committed,
    results: changes.map((change, at) => {
      const rows = returned.find(({ statement }) => statement === at + 1);
      return {
        ...commandOf(change, answer.changes[at] ?? 0),
        ...(rows === undefined ? {} : { columns: [...rows.columns], rows: rows.rows.map((row) => [...row]) }),
      };
    }),
    ...(lastRowId === "0" ? {} : { last_insert_rowid: lastRowId }),
    ...(loss === undefined ? {} : { loss }),
    ...(undo.length === 0 ? {} : { undo: [...undo] }),
    truncated: isShort,
    ...(isShort ? { truncated_by: "bytes" as const } : {}),
  };
}

/** `INSERT` with a row count, `CREATE TABLE` without. */
function commandOf({ statement: { verb, tokens } }: Change, changed: number) {
  if (["INSERT", "REPLACE", "UPDATE", "DELETE"].includes(verb)) return { command: verb, row_count: changed };
  const [, what] = tokens;
  return { command: what?.kind === "word" ? `${verb} ${what.text.toUpperCase()}` : verb };
}
