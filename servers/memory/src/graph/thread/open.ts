import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { errorCode } from "@refmcp/boundary";
import { grouped, ToolError } from "@refmcp/boundary/answer";
import { prune } from "../change/change.ts";
import { refuseLarge } from "../errors.ts";
import { counted } from "../read/names.ts";
import { IMPORTED, type ImportNote } from "../read/read.ts";
import { openPostgresStore } from "../store/postgres-store.ts";
import { openSqliteStore } from "../store/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { type Imported, importMemory } from "../transfer/import.ts";
import { rejectsFile } from "../transfer/jsonl.ts";
import { DEFAULT_SPACE, type MemoryLocation } from "./location.ts";

/** An open store, and notices for its user. */
export interface OpenedStore {
  readonly store: Store;
  /** Sentences; empty if there is nothing to say. */
  readonly notice: string;
  /** The same, but about damage. */
  readonly warning?: string | undefined;
  /** A file of the official server that may be imported without being in an allowed directory. */
  readonly official?: string | undefined;
}

/**
 * Opens the memory at a location. A new database for an official file is filled from that file first; the file itself is
 * only read. Changes older than the configured number of days are erased.
 *
 * @throws ToolError if the location cannot be opened or the file not be read; see the stores.
 */
export async function openStore(location: MemoryLocation): Promise<OpenedStore> {
  const store =
    location.kind === "postgres"
      ? await openPostgresStore(location.url, location.space)
      : await openSqliteStore(location.file);
  const { warning } = store;
  try {
    // A memory that is not writable now is pruned at a later start.
    if (location.historyDays !== undefined)
      await prune(store, location.historyDays).catch((error: unknown) => {
        if (!(error instanceof ToolError)) throw error;
      });
    const named = location.official;
    if (named !== undefined && location.kind === "sqlite" && location.space === DEFAULT_SPACE) {
      const notice = await importOnce(store, named, location.file);
      return { store, warning, notice, official: named };
    }
    const isNew = (await store.read((reader) => reader.changes(undefined, 1))).length === 0;
    const isOffered = location.kind === "sqlite" && location.isDefault && isNew;
    const official = named ?? (isOffered ? await defaultOfficialFile() : undefined);
    if (!isNew || official === undefined || !existsSync(official))
      return { store, warning, notice: "", official };
    const what =
      named === undefined
        ? `but the official memory server left one at ${official}. To import it`
        : `and ${named} was not imported: only the default space in SQLite imports automatically. To import it`;
    const notice = `This memory is empty, ${what}, call import_graph with that path.`;
    return { store, warning, notice, official };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Imports the file unless that was done before; returns the result. */
async function importOnce(store: Store, source: string, database: string): Promise<string> {
  if ((await store.read((reader) => reader.meta(IMPORTED))) !== undefined) return "";
  const bytes = await readWhole(source);
  if (bytes === undefined) return "";
  const imported = await importMemory(store, bytes, {
    action: "import_graph",
    source: basename(source).slice(0, 500),
    once: {
      key: IMPORTED,
      note: (tally, rejected) =>
        JSON.stringify({
          path: source,
          at: new Date().toISOString(),
          bytes: bytes.length,
          entities: tally.entities + tally.created_for_relations,
          relations: tally.relations,
          rejected,
        } satisfies ImportNote),
    },
  });
  // Another process was faster.
  if (imported.change_id === undefined && imported.rejects.length === 0) return "";
  const { entities, relations } = imported;
  return `Imported ${counted({ entities, relations })} from ${source} into ${database}; the file is unchanged.${await keepRejects(imported, source, database)}`;
}

/** The bytes of a file; undefined if there is none. */
async function readWhole(file: string): Promise<Uint8Array | undefined> {
  try {
    refuseLarge(file, (await stat(file)).size);
    return await readFile(file);
  } catch (cause) {
    if (cause instanceof ToolError) throw cause;
    const code = errorCode(cause) ?? String(cause);
    if (code === "ENOENT") return undefined;
    throw new ToolError("unavailable", `The memory file ${file} cannot be read: ${code}.`, {
      hint: "Check that it is a file this user can read, or choose another with --file.",
      cause,
    });
  }
}

/** Writes the unreadable lines next to the source, or if that is not writable, next to the database. */
async function keepRejects(
  { rejects }: Imported,
  source: string,
  database: string,
): Promise<string> {
  const [first] = rejects;
  if (first === undefined) return "";
  const what = `${grouped(rejects.length)} ${rejects.length === 1 ? "line" : "lines"} could not be imported (line ${first.line}: ${first.reason})`;
  for (const place of [`${source}.rejects`, `${database}.rejects`]) {
    try {
      await writeFile(place, rejectsFile(rejects), { mode: 0o600 });
      return ` ${what}; see ${place}.`;
    } catch {
      // The next location is tried; the source still has them.
    }
  }
  return ` ${what}; they are still in ${source}.`;
}

/** The newest file of the official server at its default place, which is its own folder in npx's cache. */
async function defaultOfficialFile(): Promise<string | undefined> {
  const { npm_config_cache, LOCALAPPDATA } = process.env;
  const cache =
    npm_config_cache ??
    (LOCALAPPDATA === undefined ? join(homedir(), ".npm") : join(LOCALAPPDATA, "npm-cache"));
  const folder = join(cache, "_npx");
  let newest: { file: string; mtimeMs: number } | undefined;
  for (const name of await readdir(folder).catch(() => [])) {
    for (const base of ["memory.jsonl", "memory.json"]) {
      const file = join(
        folder,
        name,
        "node_modules/@modelcontextprotocol/server-memory/dist",
        base,
      );
      const facts = await stat(file).catch(() => undefined);
      if (facts !== undefined && facts.size > 0 && facts.mtimeMs > (newest?.mtimeMs ?? 0))
        newest = { file, mtimeMs: facts.mtimeMs };
    }
  }
  return newest?.file;
}
