/** An entity and a relation as in the official server's answers and file. */
export type Entity = Readonly<Record<"name" | "entityType", string>> & {
  readonly observations: string[];
};
export type Relation = Readonly<Record<"from" | "to" | "relationType", string>>;

/** An entity in a store. Times are milliseconds since 1970. */
export interface EntityRow {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly createdAt: number;
  /** When it or something attached to it changed last. */
  readonly updatedAt: number;
  /** The change that deleted it; null if it exists. */
  readonly removedBy: number | null;
}

export interface ObservationRow {
  readonly id: number;
  readonly entityId: number;
  readonly content: string;
  readonly source: string | null;
  readonly createdAt: number;
  readonly removedBy: number | null;
  /** When another observation replaced it; null while it is current. */
  readonly supersededAt: number | null;
  /** The observation that replaced it; null while it is current, or if the replacement is unknown. */
  readonly supersededBy: number | null;
}

/**
 * Which observations are wanted: `current` ones, `kept` ones (also those that were superseded), or `all` (also those that were
 * softly deleted).
 */
export type Which = "current" | "kept" | "all";

export interface RelationRow {
  readonly id: number;
  readonly fromId: number;
  readonly toId: number;
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly removedBy: number | null;
}

/** What a row is. */
export type Kind = "entity" | "observation" | "relation";

/** What a change did to one row; `restore` undoes a `remove`, `revive` a `supersede`. */
export type ItemOp =
  | "add"
  | "remove"
  | "restore"
  | "rename"
  | "retype"
  | "move"
  | "supersede"
  | "revive";

/**
 * One row that a change affected; `rename`, `retype` and `move` have its value before and after; `supersede` has after, and
 * `revive` before, the time and the id of the replacement.
 */
export interface ChangeItem {
  readonly kind: Kind;
  readonly op: ItemOp;
  readonly rowId: number;
  /** The entity that the row is or belongs to; a relation belongs to two. */
  readonly entityId: number;
  readonly otherId: number | null;
  readonly before: string | null;
  readonly after: string | null;
}

/** The tool and source of a change. */
export interface ChangeFacts {
  /** The tool, for example `create_entities`. */
  readonly action: string;
  /** Where the facts come from, in the caller's words. */
  readonly source?: string | undefined;
  /** The change that is undone. */
  readonly undoes?: number;
  /** Rows are erased permanently. */
  readonly hard?: boolean;
}

/** A journaled change. */
export interface ChangeRow {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The tool that made it, for example `create_entities`. */
  readonly action: string;
  readonly source: string | null;
  /** The change that this one undoes. */
  readonly undoes: number | null;
  /** The change that undid this one. */
  readonly undoneBy: number | null;
  /** Whether rows were permanently erased, so that it cannot be undone. */
  readonly hard: boolean;
}

export type Counts = Readonly<Record<"entities" | "observations" | "relations", number>>;

/** How the search index contains a word of a query. */
export interface IndexedWord {
  readonly word: string;
  /**
   * `word`: as a word or the beginning of one; `part`: inside words; `sign`: as characters that are not a word; `near`: not at
   * all, but there are words a few letters away.
   */
  readonly as: "word" | "part" | "sign" | "near";
  /** The query in the store's syntax. */
  readonly query: string;
  /** Its forms, as they begin in folded texts. */
  readonly stems: readonly string[];
  /** How many rows of the index have it, up to `MAX_COUNTED`. */
  readonly count: number;
}

/** A word with its weight in a rank: higher if fewer rows have it (the IDF of BM25). */
export interface WeightedWord extends IndexedWord {
  readonly weight: number;
  /** Whether it is so common that it selects no rows if the query has a rarer word. */
  readonly isCommon: boolean;
}

export type Direction = "out" | "in" | "both";

/** Filters of a search: entity types, and times of change (milliseconds since 1970). */
export interface Within {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly types?: readonly string[] | undefined;
}

/** The ids of rows, in order. */
export function idsOf(rows: readonly { readonly id: number }[]): number[] {
  return rows.map(({ id }) => id);
}

/** How much a word counts that `count` of `total` rows have (the IDF of BM25). */
export function rarityOf(count: number, total: number): number {
  return Math.log(1 + Math.max(0, total - count + 0.5) / (count + 0.5));
}
