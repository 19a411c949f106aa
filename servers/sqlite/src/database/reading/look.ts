import type { Databases } from "../connection/databases.ts";

export type Row = Readonly<Record<string, unknown>>;
export type LookedAt = readonly [sql: string, ...params: unknown[]];

/**
 * Runs our own statements and returns the rows of each.
 *
 * @param timeoutMs for what may take long, since it reads rows or runs a view: it takes its turn among the queries
 */
export async function look(
  databases: Databases,
  database: string | undefined,
  signal: AbortSignal,
  statements: readonly LookedAt[],
  timeoutMs?: number,
): Promise<Row[][]> {
  const place = await databases.place(database);
  const job = {
    op: "look" as const,
    place,
    statements: statements.map(([sql, ...params]) => ({ sql, params })),
  };
  const runners = timeoutMs === undefined ? databases.catalogue : databases.runners;
  return await runners.run<Row[][]>(job, { signal, timeoutMs: timeoutMs ?? databases.limits().timeoutMs });
}

export const text = (value: unknown) => (typeof value === "string" ? value : String(value ?? ""));
export const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
