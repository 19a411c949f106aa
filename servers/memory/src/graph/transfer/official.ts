import { readFile, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { errorCode } from "@refmcp/boundary";
import { grouped, ToolError } from "@refmcp/boundary/answer";
import { counted } from "../counts.ts";
import { refuseLarge } from "../errors.ts";
import { IMPORTED, type ImportNote } from "../read/records.ts";
import type { Store } from "../store/store.ts";
import { type Imported, importMemory } from "./import.ts";
import { rejectsFile } from "./jsonl.ts";

/**
 * Imports a file of the official server unless that was done before.
 *
 * @returns a sentence about the result; empty if there is nothing to say
 * @throws ToolError `unavailable` if the file exists and cannot be read.
 */
export async function importOnce(store: Store, source: string, database: string): Promise<string> {
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
