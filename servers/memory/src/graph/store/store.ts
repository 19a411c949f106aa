import type { Reader } from "./reader.ts";
import type { Writer } from "./writer.ts";

export type { Reader, Writer };

/** Where a graph is kept. Implemented for SQLite and PostgreSQL; one suite tests both. */
export interface Store {
  readonly kind: "sqlite" | "postgres";
  /** Its location for people, without secrets. */
  readonly location: string;
  /** Reads from one snapshot of the graph. */
  read<Value>(work: (reader: Reader) => Promise<Value>, signal?: AbortSignal): Promise<Value>;
  /**
   * Writes atomically, one writer at a time across all processes. When it resolves, the write is on the disk.
   *
   * @throws ToolError `unavailable` if the store cannot be written now; then nothing was changed.
   */
  write<Value>(work: (writer: Writer) => Promise<Value>, signal?: AbortSignal): Promise<Value>;
  /** A number that changes whenever any process commits a write. */
  version(): Promise<number>;
  /** Overwrites what erased rows left on the disk. Returns a sentence about what could not be overwritten yet. */
  overwriteErased(): Promise<string | undefined>;
  /** What its user should know about damage found when it was opened. */
  readonly warning?: string | undefined;
  /** Reports how many items are done. */
  progress?(done: number): void;
  close(): Promise<void>;
}

/** A store for one call: its work ends when the call does, and its progress is reported to the caller. */
export function storeOfCall(
  store: Store,
  signal: AbortSignal | undefined,
  progress?: (done: number) => void,
): Store {
  return {
    ...store,
    read: (work) => store.read(work, signal),
    write: (work) => store.write(work, signal),
    ...(progress === undefined ? {} : { progress }),
  };
}
