import type { Postgres } from "./postgres.ts";

/** For work that only its time limit ends: lists and completions have no call that could be cancelled. */
export const never = new AbortController().signal;

/**
 * Calls `changed` when a notification names the table (`schema.table`, or its name alone), and when one names none.
 *
 * @returns what stops it.
 */
export async function watchTable(
  postgres: Postgres,
  schema: string | undefined,
  table: string,
  changed: () => void,
): Promise<() => void> {
  return await postgres.at().listener.hear((named) => {
    if (named === undefined || named === table || named === `${schema ?? ""}.${table}`) changed();
    else if (schema === undefined && named.endsWith(`.${table}`)) changed();
  });
}
