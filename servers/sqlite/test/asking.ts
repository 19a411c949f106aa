import type { Question } from "@refmcp/sql";
import type { queryOutput } from "@refmcp/sql/tools";
import { afterEach } from "vitest";
import type * as z from "zod";
import { query } from "../src/database/reading/query.ts";
import { undoChange } from "../src/database/undo/undo-change.ts";
import { runChanges } from "../src/database/writing/write.ts";
import { type Lab, lab } from "./lab.ts";

/** Labs that are removed after each test. */
export function labs(): (options?: Parameters<typeof lab>[0]) => Promise<Lab> {
  const open: Lab[] = [];
  afterEach(async () => {
    for (const one of open.splice(0)) await one.dispose();
  });
  return async (options = {}) => {
    const one = await lab(options);
    open.push(one);
    return one;
  };
}

/** What read_query does, without a client. */
export const ask = async (
  here: Lab,
  sql: string,
  more: Partial<Question> = {},
): Promise<z.output<typeof queryOutput>> =>
  JSON.parse(
    await query(here.databases, {
      sql,
      params: [],
      database: undefined,
      maxRows: undefined,
      timeoutMs: undefined,
      cursor: undefined,
      format: "rows",
      budget: 80_000,
      signal: new AbortController().signal,
      ...more,
    }),
  );

/** What write_query and execute do, without a client. */
export const change = (
  here: Lab,
  sql: string | readonly string[],
  {
    confirm = async () => {},
    signal = new AbortController().signal,
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
    here.databases,
    { statements: [sql].flat().map((one) => ({ sql: one, params })), database: undefined, dryRun },
    { budget: 20_000, signal, confirm },
  );

export const ENDLESS =
  "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t";

/** What undo_database_change does, without a client. */
export const undo = (here: Lab, id: string | undefined, { dryRun = false } = {}) =>
  undoChange(
    here.databases,
    { id: id ?? "", dryRun, database: undefined },
    { signal: new AbortController().signal },
  );
