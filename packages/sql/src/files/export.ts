import type { Bound } from "../database.ts";
import type { Databases } from "../databases.ts";
import { type NewFile, writeNewFile } from "./new-file.ts";

interface Export extends Bound {
  readonly database?: string | undefined;
  readonly path: string;
}

/** What moving rows to or from a file needs of its call. */
export interface Transfer {
  readonly signal: AbortSignal;
  progress(done: number, of: number | undefined, note: string): void;
}

/**
 * Writes all rows of a reading statement to a new file inside the boundary, from one snapshot of the database.
 *
 * @throws ToolError what the boundary and the database refuse; no file is left then
 */
export async function exportRows(
  databases: Databases,
  { sql, params, database, path }: Export,
  call: Transfer,
): Promise<NewFile & { rows: number }> {
  const { signal } = call;
  const at = await databases.at(database);
  const { value, ...file } = await writeNewFile(databases.guard, path, async (write) => {
    let bytes = 0;
    const rows = await at.copyOut({
      ...{ sql, params, path, signal },
      async write(piece) {
        await write(piece);
        bytes += piece.length;
        call.progress(bytes, undefined, "bytes written");
      },
    });
    // A cancellation may have come too late for the database, but not for the file.
    signal.throwIfAborted();
    return rows;
  });
  return { ...file, rows: value };
}
