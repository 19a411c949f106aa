import type { Databases } from "../connection/databases.ts";

export type Row = Readonly<Record<string, unknown>>;
export type LookedAt = readonly [sql: string, ...params: unknown[]];

/** Runs statements of ours on one state of the server's processes and gives the rows of each. */
export async function look(
  databases: Databases,
  database: string | undefined,
  signal: AbortSignal,
  statements: readonly LookedAt[],
  timeoutMs = databases.limits().timeoutMs,
): Promise<Row[][]> {
  const place = await databases.place(database);
  const job = {
    op: "look" as const,
    place,
    statements: statements.map(([sql, ...params]) => ({ sql, params })),
  };
  return await databases.runners.run<Row[][]>(job, { signal, timeoutMs });
}

export const text = (value: unknown) => (typeof value === "string" ? value : String(value ?? ""));
export const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
