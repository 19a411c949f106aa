import {
  describeTables,
  type PageAsked,
  readPage,
  relationsOf,
  runChanges,
  type TablesAsked,
  undoChange,
} from "@refmcp/sql";
import type { queryOutput } from "@refmcp/sql/tools";
import Sqlite from "better-sqlite3";
import { expect } from "vitest";
import type * as z from "zod";
import type { Lab } from "./lab.ts";

const never = () => new AbortController().signal;

/** What read_query does, without a client. */
export const ask = async (
  { databases }: Pick<Lab, "databases">,
  sql: string,
  more: Partial<PageAsked> = {},
): Promise<z.output<typeof queryOutput>> =>
  JSON.parse(
    await readPage(databases, { sql, params: [], budget: 80_000, signal: never(), ...more }),
  );

/** The rows of its answer. */
export const rowsOf = async (...question: Parameters<typeof ask>) => (await ask(...question)).rows;

/** What execute does, without a client. */
export const change = (
  { databases }: Pick<Lab, "databases">,
  sql: string | readonly string[],
  {
    confirm = async () => {},
    signal = never(),
    dryRun = false,
    params = [],
  }: {
    confirm?: (loss: string) => Promise<void>;
    signal?: AbortSignal;
    dryRun?: boolean;
    params?: readonly unknown[];
  } = {},
) =>
  runChanges(
    databases,
    { statements: [sql].flat().map((text) => ({ sql: text, params })), dryRun },
    { budget: 20_000, signal, confirm },
  );

/** What the user is asked, who declines, before a change. */
export async function asked(here: Pick<Lab, "databases">, sql: string | readonly string[]) {
  const questions: string[] = [];
  const confirm = async (message: string) => {
    questions.push(message);
    throw new Error("no");
  };
  await expect(change(here, sql, { confirm }), String(sql)).rejects.toThrow("no");
  return questions;
}

export const ENDLESS =
  "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t";

/** What undo_database_change does, without a client. */
export const undo = (
  { databases }: Pick<Lab, "databases">,
  id: string | undefined,
  { dryRun = false } = {},
) => undoChange(databases, { id: id ?? "", dryRun }, { signal: never() });

/** The recorded changes, newest first. */
export const changesIn = async ({ databases }: Pick<Lab, "databases">) =>
  await databases.changes.list((await databases.at()).identity);

/** What describe_tables does, without a client. */
export const tables = async (
  { databases }: Pick<Lab, "databases">,
  asked: Partial<TablesAsked> = {},
  budget = 20_000,
) =>
  await describeTables(
    databases,
    await databases.at(),
    { limit: 500, ...asked },
    { budget, signal: never() },
  );

/** Everything about one table. */
export async function described(here: Pick<Lab, "databases">, table: string) {
  const { tables: [only] = [] } = await tables(here, { table });
  return { ...only };
}

/** The names of tables and views. */
export const namesIn = async ({ databases }: Pick<Lab, "databases">) =>
  (await relationsOf(await databases.at(), undefined, { signal: never() })).map(({ name }) => name);

/** The rows of all tables that have some, with their exact bytes. */
export function rowsIn({ file }: Pick<Lab, "file">): unknown {
  const database = new Sqlite(file, { readonly: true });
  try {
    const columnsOf = database
      .prepare<[string], string>("SELECT name FROM pragma_table_xinfo(?)")
      .pluck();
    return database
      .prepare<[], { name: string; wr: number }>(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
      )
      .all()
      .map(({ name, wr }) => {
        const columns = columnsOf
          .all(name)
          .map(
            (column) => `typeof("${column}"), quote(CAST("${column}" AS BLOB)), quote("${column}")`,
          );
        const key = wr === 0 ? ["rowid"] : [];
        const sql = `SELECT ${[...key, ...columns].join(", ")} FROM "${name}" ORDER BY 1, 2, 3`;
        return [name, database.prepare(sql).raw().safeIntegers().all().map(String)] as const;
      })
      .filter(([, rows]) => rows.length > 0);
  } finally {
    database.close();
  }
}
