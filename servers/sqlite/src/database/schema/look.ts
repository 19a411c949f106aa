import { ToolError } from "@refmcp/boundary/answer";
import type { Work } from "@refmcp/sql";
import type { Place } from "../driver/handle.ts";
import type { Pool } from "../driver/pool.ts";

export type Row = Readonly<Record<string, unknown>>;

/** A database whose schema is read. */
export interface Source {
  readonly place: Place;
  readonly pool: Pool;
  /** The limit of a statement, in milliseconds. */
  readonly timeoutMs: number;
}

/** Our own statement with its values. */
type Own = readonly [sql: string, ...params: unknown[]];

/** How our own statements run. */
interface Looking extends Work {
  /** A statement that fails has no rows. */
  readonly isTolerant?: boolean;
  /** It may take long, because it reads rows or runs a view, so it takes turns with queries. */
  readonly isLong?: boolean;
}

/** Runs our own statements and returns the rows of each. */
export async function look(
  { place, pool, timeoutMs }: Source,
  statements: readonly Own[],
  { signal, isTolerant = false, isLong = false, timeoutMs: limit = timeoutMs }: Looking,
): Promise<Row[][]> {
  const bound = statements.map(([sql, ...params]) => ({ sql, params }));
  const job = { place, isTolerant, statements: bound };
  return await pool.run("look", job, { signal, timeoutMs: limit }, !isLong);
}

/** Work that may fail, for example on a broken or endless view: a failure becomes a notice. */
export async function attempt<Answer>(
  notices: string[],
  what: string,
  work: Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ToolError) || error.kind === "cancelled") throw error;
    notices.push(`${what}: ${error.message}`);
    return undefined;
  }
}

export const text = (value: unknown) => (typeof value === "string" ? value : String(value ?? ""));
