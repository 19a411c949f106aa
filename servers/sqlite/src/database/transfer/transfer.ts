import { basename } from "node:path";
import type { GuardedFile } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import {
  type Bound,
  type Calling,
  csvHeader,
  type ExportFormat,
  lossAction,
  type NewFile,
  quoteIdentifier,
  withNear,
  writeNewFile,
} from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import { COMPANIONS, type Place } from "../connection/handle.ts";
import { passReading } from "../gate/gate.ts";
import { paramsOf } from "../gate/params.ts";
import { type Source, tableColumns, tableFound } from "../reading/catalog.ts";
import { nearNames } from "../reading/query.ts";
import type { Recording } from "../writing/change.ts";

/** Characters of one part of an export, bytes of one part of an import: more than any header. */
const PIECE = 262_144;

export interface Export extends Bound {
  readonly database?: string | undefined;
  readonly path: string;
  readonly format: ExportFormat;
}

/**
 * Writes all rows of a reading statement to a new file inside the boundary, from one snapshot of the database.
 *
 * @throws ToolError what the gate, the boundary and SQLite refuse; no file is left then
 */
export async function exportRows(
  databases: Databases,
  { sql, params, database, path, format }: Export,
  call: Pick<Calling, "signal" | "progress">,
): Promise<NewFile & { rows: number }> {
  passReading(sql);
  if (COMPANIONS.some((companion) => path.toLowerCase().endsWith(companion)))
    throw new ToolError(
      "denied",
      `${JSON.stringify(path)} is a name that SQLite uses for its own files.`,
      {
        hint: "Choose another name: SQLite could take such a file for part of a database.",
      },
    );
  const place = await databases.place(database);
  const { signal } = call;
  const run = { signal, timeoutMs: databases.limits().timeoutMs };
  const job = { place, sql, params: paramsOf(sql, params), format, bytes: PIECE };
  const { value, ...file } = await writeNewFile(databases.options.guard, path, (write) =>
    databases.transfers
      .lease(place.file, run, async (ask) => {
        let rows = 0;
        await ask("openRows", job);
        // The next piece is read while one is written.
        const next = () => {
          const asked = ask("nextRows", {});
          asked.catch(() => undefined);
          return asked;
        };
        for (let asked = next(), isLast = false; !isLast; ) {
          const piece = await asked;
          isLast = piece.isLast;
          if (!isLast) asked = next();
          await write(Buffer.from(piece.text));
          rows += piece.rows;
          call.progress(rows, undefined, "rows written");
        }
        signal.throwIfAborted();
        return rows;
      })
      .catch(async (error: unknown) => {
        throw await nearNames(error, sql, databases, place, signal);
      }),
  );
  return { ...file, rows: value };
}

interface Import extends Pick<Export, "database" | "path"> {
  readonly table: string;
  readonly delimiter: string;
  readonly dryRun: boolean;
}

/**
 * Adds the records of a CSV file inside the boundary to a table in one transaction: all or none. The first record names the
 * columns. A violated constraint ends the import, even if the constraint has its own ON CONFLICT clause.
 *
 * @throws ToolError `not_found` for a table or column, with similar names; `invalid` for invalid CSV; `conflict` with the line
 */
export async function importCsv(
  databases: Databases,
  { database, path, table, delimiter, dryRun }: Import,
  call: Omit<Calling, "budget">,
) {
  const { signal } = call;
  const place = await databases.place(database);
  const target = await targetOf({ databases, database, signal }, table);
  const file = await databases.options.guard.openFile(path);
  try {
    const { size } = file.stat;
    const columns = headerOf(await namesOf(file, delimiter), target, file.path);
    const from = { file, target, delimiter, columns };
    const recording = await databases.recording(place);
    const attempt = (how: Recording, isWatched: boolean) =>
      addRows(databases, place, from, { recording: how, isWatched, dryRun }, call);
    let done = await attempt(recording, false);
    if (done === "watch") done = await attempt(recording, true);
    // A change that is too large for the record is made without it.
    if (done !== "watch" && "unrecorded" in done)
      done = await attempt({ reason: done.unrecorded }, true);
    if (done === "watch" || "unrecorded" in done) throw new Error("the import was not made");
    return { table: target.name, columns, ...done, bytes: size, committed: !dryRun };
  } finally {
    await file.handle.close();
  }
}

/** One attempt to import a file; or why it can't be recorded like this, and nothing was changed. */
async function addRows(
  databases: Databases,
  place: Place,
  {
    file,
    target,
    delimiter,
    columns,
  }: { file: GuardedFile; target: Target; delimiter: string; columns: readonly string[] },
  { dryRun, ...how }: { recording: Recording; isWatched: boolean; dryRun: boolean },
  call: Omit<Calling, "budget">,
): Promise<{ rows: number; change_id?: string; note?: string } | { unrecorded: string } | "watch"> {
  const { signal } = call;
  const { size } = file.stat;
  const names = columns.map(quoteIdentifier).join(", ");
  const insert = `INSERT OR ABORT INTO ${quoteIdentifier(target.name)} (${names}) VALUES`;
  const shown = `import of ${basename(file.path)} into ${quoteIdentifier(target.name)}`;
  const run = { signal, timeoutMs: databases.limits().timeoutMs };
  return await databases.transfers
    .lease(place.file, run, async (ask) => {
      const csv = { path: file.path, delimiter, columns: columns.length };
      await ask("openTable", { ...csv, ...how, place, table: target.name, insert, shown });
      const source = file.handle.createReadStream({ start: 0, autoClose: false });
      let rows = 0;
      let bytes = 0;
      const add = async (piece: Uint8Array, isLast: boolean) => {
        const added = await ask("addRows", { bytes: piece, isLast });
        if (typeof added !== "number") return added;
        rows += added;
        bytes += piece.length;
        call.progress(bytes, size, "bytes read");
        return undefined;
      };
      for await (const piece of source) {
        const failed = await add(piece, false);
        if (failed !== undefined) return failed;
      }
      const failed = await add(new Uint8Array(), true);
      if (failed !== undefined) return failed;
      const measured = await ask("measureTable", { rows, target: target.name.toLowerCase() });
      if (measured === "watch" || "unrecorded" in measured) return measured;
      if (measured.loss !== undefined && !dryRun)
        await call.confirm(measured.loss, lossAction(measured.loss));
      signal.throwIfAborted();
      const changeId = await ask("closeTable", { commit: !dryRun });
      const note = databases.options.changes.copyNote;
      return { rows, ...(changeId === undefined ? {} : { change_id: changeId, note }) };
    })
    .catch(async (error: unknown) => {
      await databases.recover(place);
      throw error;
    });
}

/** The first record of the file. */
async function namesOf({ handle, path }: GuardedFile, delimiter: string): Promise<string[]> {
  const buffer = Buffer.alloc(PIECE);
  const { bytesRead } = await handle.read(buffer, 0, PIECE, 0);
  return csvHeader(buffer.subarray(0, bytesRead), bytesRead < PIECE, path, delimiter);
}

type Target = Awaited<ReturnType<typeof targetOf>>;

async function targetOf(source: Source, table: string) {
  const hint = "Create it first with create_table, or call list_tables for the names.";
  const { name } = await tableFound(source, table, { types: ["table", "virtual"], hint });
  return { name, columns: await tableColumns(source, name) };
}

/** The table's columns, in the order of the file's header. */
function headerOf(fields: readonly string[], { name, columns }: Target, path: string): string[] {
  const hint = `The first line must name columns of ${name}: ${columns.slice(0, 40).join(", ")}. For ; or tabs set delimiter.`;
  if (fields.length === 0)
    throw new ToolError("invalid", `${JSON.stringify(path)} is empty; a header line is required.`, {
      hint,
    });
  const found = fields.map((field) => {
    const known = columns.find((column) => column.toLowerCase() === field.trim().toLowerCase());
    if (known !== undefined) return known;
    throw withNear("column", field.slice(0, 60), columns, hint);
  });
  const twice = found.find((column, index) => found.indexOf(column) !== index);
  if (twice === undefined) return found;
  throw new ToolError("invalid", `${JSON.stringify(path)} names the column ${twice} twice.`, {
    hint,
  });
}
