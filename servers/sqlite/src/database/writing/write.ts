import { agreed, removalOf, type Statement, targetOf } from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import type { WriteAnswer, WriteStatement } from "../connection/protocol.ts";
import { recover } from "../connection/recover.ts";
import { passCreateTable, passWriting } from "../gate/gate.ts";
import { paramsOf } from "../gate/params.ts";
import { runStatement } from "../reading/near-names.ts";
import { shownChange } from "./shown-change.ts";

export interface Change {
  readonly sql: string;
  readonly params: readonly unknown[];
  /** How the gate classified it. */
  readonly statement: Statement;
}

export interface Writing {
  readonly statements: readonly { readonly sql: string; readonly params: readonly unknown[] }[];
  readonly database: string | undefined;
  readonly dryRun: boolean;
  /** Accepts only CREATE TABLE, and creates a missing database file. */
  readonly isCreating?: boolean;
}

/** What a change needs of its call. */
interface Calling {
  readonly signal: AbortSignal;
  /** Characters of the answer. */
  readonly budget: number;
  confirm(loss: string): Promise<void>;
}

/**
 * Runs changes in one transaction, all or none, and returns their effect as `changeOutput`. Data loss needs confirmation, with
 * the exact row count.
 *
 * @throws ToolError what the gate, the boundary, SQLite and the user refuse; nothing is changed then
 */
export async function runChanges(databases: Databases, writing: Writing, call: Calling) {
  const { dryRun, isCreating = false } = writing;
  const { allowDdl } = databases.options;
  const changes = writing.statements.map(({ sql, params }) => {
    const statement = isCreating ? passCreateTable(sql) : passWriting(sql, allowDdl);
    return { sql, params, statement };
  });
  const place = await databases.place(writing.database, isCreating);
  const statements = changes.map(writeStatement);
  // The rest of the answer takes less than this.
  const returnedBytes = Math.max(0, call.budget - 1_000 - 20 * statements.length);
  const attempt = async (agreedLoss: string | undefined) => {
    const job = { op: "write" as const, place, statements, dryRun, agreedLoss, returnedBytes };
    const sql = statements.map((one) => one.sql).join(";\n");
    const done = await runStatement<WriteAnswer>(databases, job, { sql, signal: call.signal }, () =>
      recover(databases, place),
    );
    return dryRun || done.committed ? { done } : { loss: done.loss ?? "nothing would be lost any more" };
  };
  return shownChange(changes, await agreed({ attempt, confirm: (loss) => call.confirm(loss) }));
}

function writeStatement({ sql, params, statement }: Change): WriteStatement {
  const removal = removalOf(statement);
  const target = targetOf(statement);
  const words = statement.tokens.flatMap(({ kind, text }) => (kind === "word" ? [text.toUpperCase()] : []));
  const overwrites = words.some(
    (word, at) => word === "REPLACE" || (word === "DO" && words[at + 1] === "UPDATE"),
  );
  return {
    sql,
    params: paramsOf(sql, params),
    verb: statement.verb,
    overwrites: overwrites && (statement.verb === "INSERT" || statement.verb === "REPLACE"),
    ...(removal === undefined ? {} : { structure: removal.what, table: removal.table }),
    ...(target === undefined ? {} : { target }),
  };
}
