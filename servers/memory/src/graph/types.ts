/** An entity and a relation as in the official server's answers and file. */
export type Entity = Readonly<Record<"name" | "entityType", string>> & {
  readonly observations: string[];
};
export type Relation = Readonly<Record<"from" | "to" | "relationType", string>>;

/** What a row is. */
export type Kind = "entity" | "observation" | "relation";

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
 * Which observations are wanted: `current` ones, `kept` ones (also those that were superseded), or `all` (also those
 * that were softly deleted).
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

/** A change in the journal. */
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
  /** What it did, for people: `2 entities, 3 observations added; 1 relation deleted`. */
  readonly summary: string;
}

/** What a change did to one row. */
export interface JournalRow {
  readonly id: number;
  readonly kind: Kind;
  readonly rowId: number;
  /** The entity that the row is or belongs to; a relation belongs to two, and a moved row left one. */
  readonly entityId: number;
  readonly otherId: number | null;
  /** The columns that changed, as JSON; null if the row was added. */
  readonly before: string | null;
  readonly after: string;
}

export type Counts = Readonly<Record<"entities" | "observations" | "relations", number>>;

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
