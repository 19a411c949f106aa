import { agreed, removalOf, type Statement, targetOf } from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import type { WriteAnswer, WriteStatement } from "../connection/protocol.ts";
import { recover } from "../connection/recover.ts";
import { paramsOf } from "../gate/params.ts";
import { nearNames } from "../reading/near-names.ts";

export interface Change {
  readonly sql: string;
  readonly params: readonly unknown[];
  /** What the gate said of it. */
  readonly statement: Statement;
}

export interface Writing {
  readonly changes: readonly Change[];
  readonly database: string | undefined;
  /** Makes the database file where there is none. */
  readonly make?: boolean;
  readonly dryRun: boolean;
  /** Characters of the answer. */
  readonly budget: number;
  readonly signal: AbortSignal;
  confirm(loss: string): Promise<void>;
}

/**
 * Runs changes in one transaction: all of them or none. What destroys data is asked about with its exact row count.
 *
 * @throws ToolError what the boundary, SQLite and the user say; nothing is changed then.
 */
export async function write(databases: Databases, writing: Writing): Promise<WriteAnswer> {
  const { dryRun, signal } = writing;
  const place = await databases.place(writing.database, writing.make);
  const { timeoutMs } = databases.limits();
  const statements = writing.changes.map(writeStatement);
  // What the answer holds besides rows costs less than this.
  const returnedBytes = Math.max(0, writing.budget - 1_000 - 20 * statements.length);
  const attempt = async (agreedLoss: string | undefined) => {
    const job = { op: "write" as const, place, statements, dryRun, agreedLoss, returnedBytes };
    const done = await databases.runners
      .run<WriteAnswer>(job, { signal, timeoutMs })
      .catch(async (error: unknown) => {
        await recover(databases, place);
        throw await nearNames(error, statements.map((one) => one.sql).join(";\n"), databases, place, signal);
      });
    return dryRun || done.committed ? { done } : { loss: done.loss ?? "nothing is lost any more" };
  };
  return await agreed({ attempt, confirm: writing.confirm });
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
