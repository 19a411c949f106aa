import type { Model } from "./embeddings/model.ts";
import type { Reader } from "./sql/reader.ts";
import type { Writer } from "./sql/writer.ts";

export type { Reader, Writer };

/** What ends work early: an AbortSignal, or one that another thread can set while this one works. */
export interface Stop {
  /** @throws the reason if the work should end. */
  throwIfAborted(): void;
  /** Calls a function when it is set, for work that waits. */
  whenStopped?(listener: () => void): void;
}

/** Where a graph is kept. Implemented for SQLite and PostgreSQL; one suite tests both. */
export interface Store {
  readonly kind: "sqlite" | "postgres";
  /** Where it is, for people, without secrets. */
  readonly location: string;
  /** Reads from one snapshot of the graph. */
  read<Value>(work: (reader: Reader) => Promise<Value>, stop?: Stop): Promise<Value>;
  /**
   * Writes atomically, one writer at a time over all processes: when it resolves, the write is on the disk.
   *
   * @throws ToolError `unavailable` where the store cannot be written now; nothing was changed then.
   */
  write<Value>(work: (writer: Writer) => Promise<Value>, stop?: Stop): Promise<Value>;
  /** A number that is another one after anybody, in any process, has committed a write. */
  version(): Promise<number>;
  /**
   * Overwrites what erased rows left behind on the disk. Returns a sentence about what could not be overwritten yet.
   */
  scrub(): Promise<string | undefined>;
  /** Bytes on the disk. */
  size(): Promise<number>;
  /** What searches also compare meanings with. */
  model?: Model | undefined;
  /** Reports how many items are done, to a caller who wants to know. */
  progress?(done: number): void;
  close(): Promise<void>;
}

/** A store as one call sees it: its work ends when the call does, and its progress is reported to the caller. */
export function storeOfCall(store: Store, stop: Stop, progress: (done: number) => void): Store {
  return {
    kind: store.kind,
    location: store.location,
    read: (work) => store.read(work, stop),
    write: (work) => store.write(work, stop),
    version: () => store.version(),
    scrub: () => store.scrub(),
    size: () => store.size(),
    close: () => store.close(),
    model: store.model,
    progress,
  };
}
