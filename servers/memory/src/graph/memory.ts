import type { PathGuard } from "@refmcp/boundary";
import { DEFAULT_SPACE, type MemoryLocation } from "./location.ts";
import { type Store, storeOfCall } from "./store/store.ts";
import { importOfficial } from "./transfer/import.ts";

/** The part of a call that work on the memory needs. */
interface Caller {
  /** Ends the work between two statements; its writes are rolled back. */
  readonly signal?: AbortSignal;
  progress?(done: number, total?: number, unit?: string): void;
}

/** An open memory. */
export class Memory {
  readonly store: Store;
  /** The files that may be imported and exported. */
  readonly paths: PathGuard;
  #notice: string;

  constructor(store: Store, paths: PathGuard, notice: string) {
    this.store = store;
    this.paths = paths;
    this.#notice = notice;
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
}

/**
 * Opens the memory at a location. The default space in SQLite is filled from an official file when it is new.
 *
 * @throws ToolError if the location cannot be opened or the file not be read; see the stores.
 */
export async function openMemory(location: MemoryLocation, paths: PathGuard): Promise<Memory> {
  const store = await openStore(location);
  try {
    const { official, kind, space } = location;
    const isImported = official !== undefined && kind === "sqlite" && space === DEFAULT_SPACE;
    const importNotice = isImported ? await importOfficial(store, official) : "";
    return new Memory(store, paths, [store.warning, importNotice].filter(Boolean).join(" "));
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
