import { existsSync } from "node:fs";
import type { PathGuard } from "@refmcp/boundary";
import { GraphWatch } from "./journal/watch.ts";
import { DEFAULT_SPACE, type MemoryLocation } from "./location.ts";
import { type Store, storeOfCall } from "./store/store.ts";
import { importOnce } from "./transfer/official.ts";

/** The part of a call that work on the memory needs. */
interface Caller {
  /** Ends the work between two statements; its writes are rolled back. */
  readonly signal?: AbortSignal;
  progress?(done: number, total?: number, unit?: string): void;
}

/** An open memory. */
export class Memory {
  readonly store: Store;
  readonly space: string;
  /** The files that may be imported and exported. */
  readonly paths: PathGuard;
  /** A file of the official server, which may be imported without being in an allowed directory. */
  readonly official: string | undefined;
  readonly watch: GraphWatch;
  #notice: string;

  constructor(store: Store, location: MemoryLocation, paths: PathGuard, notice: string) {
    this.store = store;
    this.space = location.space;
    this.official = location.official;
    this.paths = paths;
    this.watch = new GraphWatch(store);
    this.#notice = [store.warning, notice].filter(Boolean).join(" ");
  }

  /** The store for one call. */
  of(caller: Caller): Store {
    return storeOfCall(this.store, caller.signal, (done) =>
      caller.progress?.(done, undefined, "entities and relations"),
    );
  }

  /** A notice about the location or its files, to show the user once. */
  takeNotice(): { notice?: string } {
    const notice = this.#notice;
    this.#notice = "";
    return notice === "" ? {} : { notice };
  }

  async close(): Promise<void> {
    this.watch.close();
    await this.store.close();
  }
}

/**
 * Opens the memory at a location. A new database for an official file is filled from that file first; the file itself is
 * only read.
 *
 * @throws ToolError if the location cannot be opened or the file not be read; see the stores.
 */
export async function openMemory(location: MemoryLocation, paths: PathGuard): Promise<Memory> {
  const store = await openStore(location);
  try {
    return new Memory(store, location, paths, await prepare(store, location));
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openStore(location: MemoryLocation): Promise<Store> {
  if (location.kind === "postgres") {
    const { openPostgresStore } = await import("./store/postgres-store.ts");
    return openPostgresStore(location.url, location.space);
  }
  const { openSqliteStore } = await import("./store/sqlite-store.ts");
  return openSqliteStore(location.file);
}

/** Imports an official file into the default space of SQLite, or offers to; returns what to tell the user. */
async function prepare(store: Store, location: MemoryLocation): Promise<string> {
  const { official } = location;
  if (official === undefined) return "";
  if (location.kind === "sqlite" && location.space === DEFAULT_SPACE)
    return importOnce(store, official, location.file);
  const isNew = (await store.read((reader) => reader.changes(undefined, 1))).length === 0;
  if (!isNew || !existsSync(official)) return "";
  return `This memory is empty, and ${official} was not imported: only the default space in SQLite imports automatically. To import it, call import_graph (--toolsets all) with that path.`;
}
