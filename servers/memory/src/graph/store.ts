import type { Model } from "./embeddings/model.ts";
import type {
  ChangeItem,
  ChangeRow,
  Counts,
  Direction,
  EntityRow,
  IndexedWord,
  Kind,
  Match,
  ObservationRow,
  RelationRow,
} from "./types.ts";

/** What can be asked of a store inside one consistent snapshot. Lists are in the order of their ids: as created. */
export interface Reader {
  entitiesNamed(names: readonly string[]): Promise<Map<string, EntityRow>>;
  /** Deleted ones of these names, the latest last. */
  removedNamed(names: readonly string[]): Promise<EntityRow[]>;
  /** Also deleted ones. */
  entitiesById(ids: readonly number[]): Promise<Map<number, EntityRow>>;
  entityPage(after: number, limit: number): Promise<EntityRow[]>;
  /** Entities changed within the times, newest first; `before` continues after that one. */
  recentEntities(query: RecentQuery): Promise<EntityRow[]>;
  /** Entities whose folded name begins with the folded prefix, by name. */
  namesFrom(foldedPrefix: string, limit: number): Promise<EntityRow[]>;
  /** @param alsoRemoved also those that were softly deleted; so in the methods below. */
  observationsOf(entityIds: readonly number[], alsoRemoved?: boolean): Promise<ObservationRow[]>;
  observationPage(entityId: number, after: number, limit: number): Promise<ObservationRow[]>;
  observationCounts(entityIds: readonly number[]): Promise<Map<number, number>>;
  /** Observations of one entity with these contents. */
  observationsMatching(
    entityId: number,
    contents: readonly string[],
    alsoRemoved?: boolean,
  ): Promise<ObservationRow[]>;
  relationPage(after: number, limit: number): Promise<RelationRow[]>;
  /** Relations that begin or end at any of the entities, each once. */
  relationsTouching(entityIds: readonly number[], after: number, limit: number): Promise<RelationRow[]>;
  /** All relations from one entity to another, for several pairs. */
  relationsBetween(
    ends: readonly { fromId: number; toId: number }[],
    alsoRemoved?: boolean,
  ): Promise<RelationRow[]>;
  /** All relations that begin or end at any of the entities. */
  allRelations(entityIds: readonly number[], alsoRemoved?: boolean): Promise<RelationRow[]>;
  /** Relations from the given entities on, in one direction, for walking the graph. */
  relationsFrom(query: WalkQuery): Promise<RelationRow[]>;
  degrees(limit: number): Promise<{ entityId: number; degree: number }[]>;
  rows(kind: Kind, ids: readonly number[]): Promise<RowState[]>;
  /** How the search index holds a folded word; undefined where it has neither it nor anything near. */
  lookUp(word: string): Promise<IndexedWord | undefined>;
  /** The best entities for words that `lookUp` found: a rare word counts for more than a common one (BM25). */
  rank(words: readonly IndexedWord[], query: Within, limit: number): Promise<Match[]>;
  counts(): Promise<Counts>;
  removedCounts(): Promise<Counts>;
  typeCounts(kind: "entity" | "relation", limit: number): Promise<{ type: string; count: number }[]>;
  /** Entities without any relation. */
  orphans(limit: number): Promise<{ count: number; names: string[] }>;
  change(id: number): Promise<ChangeRow | undefined>;
  /** The newest first; `before` continues below that id. */
  changes(before: number | undefined, limit: number): Promise<ChangeRow[]>;
  changesSince(id: number, limit: number): Promise<ChangeRow[]>;
  itemsOf(changeId: number): Promise<ChangeItem[]>;
  meta(key: string): Promise<string | undefined>;
  /** Observations that have no vector yet; see embeddings/vectors.ts. */
  withoutVector(limit: number): Promise<{ id: number; content: string }[]>;
  /** Vectors of live observations by id. */
  vectors(after: number, limit: number): Promise<{ id: number; entityId: number; vector: Int8Array }[]>;
}

/** Which entities a search is about: of these types, changed within these times (milliseconds since 1970). */
export interface Within {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly types?: readonly string[] | undefined;
}

export interface RecentQuery extends Within {
  readonly before: { readonly updatedAt: number; readonly id: number } | undefined;
  readonly limit: number;
}

export interface WalkQuery {
  readonly ids: readonly number[];
  readonly direction: Direction;
  readonly types: readonly string[] | undefined;
  readonly limit: number;
}

/** What a row of any kind is now, for undoing. */
export interface RowState {
  readonly id: number;
  readonly removedBy: number | null;
}

export interface NewObservation {
  readonly entityId: number;
  readonly content: string;
  readonly source: string | null;
}

export interface NewRelation {
  readonly fromId: number;
  readonly toId: number;
  readonly type: string;
}

/** What can be done inside one write: all of it is kept, or nothing. Inserted ids come back in the order given. */
export interface Writer extends Reader {
  insertChange(change: {
    at: number;
    action: string;
    source: string | null;
    undoes: number | null;
    hard: boolean;
  }): Promise<number>;
  insertItems(changeId: number, items: readonly ChangeItem[]): Promise<void>;
  insertEntities(rows: readonly { name: string; type: string }[], at: number): Promise<number[]>;
  insertObservations(rows: readonly NewObservation[], at: number): Promise<number[]>;
  insertRelations(rows: readonly NewRelation[], at: number): Promise<number[]>;
  /** Marks live rows as deleted by a change. */
  remove(kind: Kind, ids: readonly number[], changeId: number): Promise<void>;
  /** Brings deleted rows back. */
  restore(kind: Kind, ids: readonly number[]): Promise<void>;
  /** Erases rows, what the journal remembers of them, and for entities all that hangs on them. */
  purge(kind: Kind, ids: readonly number[]): Promise<void>;
  rename(entityId: number, name: string): Promise<void>;
  retype(entityId: number, type: string): Promise<void>;
  moveObservation(id: number, entityId: number): Promise<void>;
  moveRelation(id: number, fromId: number, toId: number): Promise<void>;
  touch(entityIds: readonly number[], at: number): Promise<void>;
  setUndone(changeId: number, by: number | null): Promise<void>;
  setMeta(key: string, value: string): Promise<void>;
  /** Removes all vectors, and makes the place for them where there is none. */
  dropVectors(): Promise<void>;
  insertVectors(rows: readonly { id: number; vector: Int8Array }[]): Promise<void>;
  /** Forgets changes made before a time, at most `limit`, and erases what they deleted; returns how many they were. */
  forgetChanges(before: number, limit: number): Promise<number>;
}

/** What ends work early: an AbortSignal, or one that another thread can set while this one works. */
export interface Stop {
  /** @throws the reason where the work should end. */
  throwIfAborted(): void;
  /** Calls a function when it is set, for work that waits. */
  whenStopped?(listener: () => void): void;
}

/** Where a graph is kept. SQLite and PostgreSQL stand behind it; one suite tests both. */
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
