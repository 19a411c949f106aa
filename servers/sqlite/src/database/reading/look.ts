import type { Databases } from "../connection/databases.ts";

export type Row = Readonly<Record<string, unknown>>;
export type LookedAt = readonly [sql: string, ...params: unknown[]];

export interface LookOptions {
  /** For what may take long, since it reads rows or runs a view: it takes its turn among the queries. */
  readonly timeoutMs?: number;
  /** A statement that fails has no rows. */
  readonly isTolerant?: boolean;
}

/** Runs our own statements and returns the rows of each. */
export async function look(
  databases: Databases,
  database: string | undefined,
  signal: AbortSignal,
  statements: readonly LookedAt[],
  { timeoutMs, isTolerant = false }: LookOptions = {},
): Promise<Row[][]> {
  const place = await databases.place(database);
  const job = {
    op: "look" as const,
    place,
    isTolerant,
    statements: statements.map(([sql, ...params]) => ({ sql, params })),
  };
  const runners = timeoutMs === undefined ? databases.catalogue : databases.runners;
  return await runners.run<Row[][]>(job, { signal, timeoutMs: timeoutMs ?? databases.limits().timeoutMs });
}

export const text = (value: unknown) => (typeof value === "string" ? value : String(value ?? ""));
