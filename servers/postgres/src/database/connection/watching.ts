import type { Postgres } from "./postgres.ts";

/** For lists and completions, which have no call that could be cancelled: only the time limit ends them. */
export const never = new AbortController().signal;

/**
 * Calls `changed` when a notification names the table (`schema.table` or just its name) or no table at all.
 *
 * @returns the function that stops it.
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
