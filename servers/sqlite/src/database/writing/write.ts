import { ToolError } from "@refmcp/boundary/answer";
import {
  type Bound,
  type Calling,
  type Changing,
  lossAction,
  type Statement,
  TOO_LARGE,
  targetOf,
  unquoted,
} from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import type { Answer } from "../connection/runners.ts";
import { passCreateTable, passWriting } from "../gate/gate.ts";
import { paramsOf } from "../gate/params.ts";
import { runStatement } from "../reading/query.ts";
import type { Recording, WriteStatement } from "./change.ts";

interface Change extends Bound {
  /** How the gate classified it. */
  readonly statement: Statement;
}

/**
 * Runs changes in one transaction, all or none, and returns their effect as `changeOutput`. They are recorded for
 * `undo_database_change`; a loss that can't be recorded needs confirmation, with the exact row count.
 *
 * @param isCreating accepts only CREATE TABLE, and creates a missing database file
 * @throws ToolError what the gate, the boundary, SQLite and the user refuse; nothing is changed then
 */
export async function runChanges(
  databases: Databases,
  { statements: given, database, dryRun }: Changing,
  call: Omit<Calling, "progress">,
  isCreating = false,
) {
  const { allowDdl } = databases.options;
  const changes = given.map(({ sql, params }) => {
    const statement = isCreating ? passCreateTable(sql) : passWriting(sql, allowDdl);
    return { sql, params, statement };
  });
  const place = await databases.place(database, isCreating);
  const statements = changes.map(writeStatement);
  // The rest of the answer takes less than this.
  const returnedBytes = Math.max(0, call.budget - 1_000 - 20 * statements.length);
  const attempt = async (agreedLoss: string | undefined) => {
    const sql = statements.map((one) => one.sql).join(";\n");
    const run = (recording: Recording) => {
      const job = { place, statements, dryRun, agreedLoss, recording, returnedBytes };
      return runStatement(databases, "write", job, { sql, signal: call.signal });
    };
    const recording = await databases.recording(place);
    try {
      return await run(recording);
    } catch (error) {
      // SQLite keeps the rows of INSERT … SELECT in memory if there is a trigger, and a record needs one.
      if ("reason" in recording || !(error instanceof ToolError && error.kind === "too_large"))
        throw error;
      return await run({ reason: TOO_LARGE });
    }
  };
  // Measures the loss, and is rolled back if there is one: no lock is held while the user is asked about exactly this loss.
  const first = await attempt(undefined);
  const { copyNote } = databases.options.changes;
  if (dryRun || first.loss === undefined) return shownChange(changes, first, copyNote);
  await call.confirm(first.loss, lossAction(first.loss));
  const second = await attempt(first.loss);
  if (second.committed) return shownChange(changes, second, copyNote);
  const loss = second.loss ?? "nothing would be lost now";
  throw new ToolError("conflict", `The data changed while the user was being asked; now: ${loss}`, {
    hint: "Nothing was changed. Call again to ask again.",
  });
}

function writeStatement({ sql, params, statement }: Change): WriteStatement {
  const target = targetOf(statement);
  const words = statement.tokens.flatMap(({ kind, text }) =>
    kind === "word" ? [text.toUpperCase()] : [],
  );
  const overwrites = words.some(
    (word, at) => word === "REPLACE" || (word === "DO" && words[at + 1] === "UPDATE"),
  );
  return {
    sql,
    params: paramsOf(sql, params),
    verb: statement.verb,
    overwrites: overwrites && ["INSERT", "REPLACE", "UPDATE"].includes(statement.verb),
    ...(target === undefined
      ? {}
      : { target: unquoted(target.replace(/^.*\./s, "")).toLowerCase() }),
  };
}

/** The effect of changes, as `changeOutput`. */
function shownChange(changes: readonly Change[], answer: Answer<"write">, note: string) {
  const { committed, lastRowId, loss, returned, changeId, tables } = answer;
  const isShort = returned.some(({ more }) => more > 0);
  return {
    committed,
    results: changes.map((change, at) => {
      const rows = returned.find(({ statement }) => statement === at + 1);
      return {
        ...commandOf(change, answer.changes[at] ?? 0),
        ...(rows === undefined
          ? {}
          : { columns: [...rows.columns], rows: rows.rows.map((row) => [...row]) }),
      };
    }),
    ...(tables.length === 0 ? {} : { tables }),
    ...(lastRowId === "0" ? {} : { last_insert_rowid: lastRowId }),
    ...(loss === undefined ? {} : { loss }),
    ...(changeId === undefined ? {} : { change_id: changeId, note }),
    truncated: isShort,
    ...(isShort ? { truncated_by: "bytes" as const } : {}),
  };
}

/** `INSERT` with a row count, `CREATE TABLE` without. */
function commandOf({ statement: { verb, tokens } }: Change, changed: number) {
  if (["INSERT", "REPLACE", "UPDATE", "DELETE"].includes(verb))
    return { command: verb, row_count: changed };
  const [, what] = tokens;
  return { command: what?.kind === "word" ? `${verb} ${what.text.toUpperCase()}` : verb };
}
