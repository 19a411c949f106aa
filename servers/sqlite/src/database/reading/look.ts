import { ToolError } from "@refmcp/boundary/answer";
import type { Databases } from "../connection/databases.ts";

/** A call's database and its abort signal. */
export interface Source {
  readonly databases: Databases;
  readonly database?: string | undefined;
  readonly signal: AbortSignal;
}

export type Row = Readonly<Record<string, unknown>>;
export type LookedAt = readonly [sql: string, ...params: unknown[]];

export interface LookOptions {
  /** For statements that may take long, because they read rows or run a view: they take turns with queries. */
  readonly timeoutMs?: number;
  /** A statement that fails has no rows. */
  readonly isTolerant?: boolean;
}

/** Runs our own statements and returns the rows of each. */
export async function look(
  { databases, database, signal }: Source,
  statements: readonly LookedAt[],
  { timeoutMs, isTolerant = false }: LookOptions = {},
): Promise<Row[][]> {
  const place = await databases.place(database);
  const bound = statements.map(([sql, ...params]) => ({ sql, params }));
  const runners = timeoutMs === undefined ? databases.catalog : databases.runners;
  return await runners.run<Row[][]>(
    { op: "look", place, isTolerant, statements: bound },
    { signal, timeoutMs: timeoutMs ?? databases.limits().timeoutMs },
  );
}

/** For work that may fail, for example on a broken or endless view. A failure becomes a notice. */
export function attempting(notices: string[]) {
  return async <Answer>(what: string, work: () => Promise<Answer>): Promise<Answer | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ToolError) || error.kind === "cancelled") throw error;
      notices.push(`${what}: ${error.message}`);
      return undefined;
    }
  };
}

export const text = (value: unknown) => (typeof value === "string" ? value : String(value ?? ""));
