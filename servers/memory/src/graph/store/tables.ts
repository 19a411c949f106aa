import { hash } from "node:crypto";
import type { Kind } from "../types.ts";

/** The format of the tables. Older ones, which were never published, are refused. */
export const SCHEMA_VERSION = 4;

/** The tables with bulk inserts. */
export type Table = "entities" | "observations" | "relations" | "changes" | "journal";

export const TABLES = {
  entity: "entities",
  observation: "observations",
  relation: "relations",
} as const satisfies Readonly<Record<Kind, Table>>;

/**
 * The tables of a graph. Deleted rows remain, marked with the change that deleted them, until they are erased. The
 * parameters differ between SQLite and PostgreSQL: an id that is never reused, a 64-bit type (INTEGER has 64 bits only
 * in SQLite), text compared by code points, and options after the columns of a table.
 */
export function tablesOf(
  types: Readonly<Record<"id" | "integer" | "byCodePoint" | "options", string>>,
): string {
  const { id, integer, byCodePoint, options } = types;
  return `
CREATE TABLE entities (
  id ${id},
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  folded ${byCodePoint} NOT NULL,
  type TEXT NOT NULL,
  created_at ${integer} NOT NULL,
  updated_at ${integer} NOT NULL,
  removed_by ${integer}
)${options};
CREATE UNIQUE INDEX entities_name ON entities (name_key) WHERE removed_by IS NULL;
CREATE INDEX entities_folded ON entities (folded) WHERE removed_by IS NULL;
CREATE INDEX entities_updated ON entities (updated_at) WHERE removed_by IS NULL;
CREATE INDEX entities_type ON entities (type) WHERE removed_by IS NULL;

CREATE TABLE observations (
  id ${id},
  entity_id ${integer} NOT NULL,
  content TEXT NOT NULL,
  content_key ${integer} NOT NULL,
  source TEXT,
  created_at ${integer} NOT NULL,
  removed_by ${integer},
  superseded_at ${integer},
  superseded_by ${integer}
)${options};
CREATE UNIQUE INDEX observations_content ON observations (entity_id, content_key)
  WHERE removed_by IS NULL AND superseded_at IS NULL;
CREATE INDEX observations_entity ON observations (entity_id, id);

CREATE TABLE relations (
  id ${id},
  from_id ${integer} NOT NULL,
  to_id ${integer} NOT NULL,
  type TEXT NOT NULL,
  created_at ${integer} NOT NULL,
  removed_by ${integer}
)${options};
CREATE UNIQUE INDEX relations_ends ON relations (from_id, to_id, type) WHERE removed_by IS NULL;
CREATE INDEX relations_to ON relations (to_id, id) WHERE removed_by IS NULL;

CREATE TABLE changes (
  id ${id},
  at ${integer} NOT NULL,
  action TEXT NOT NULL,
  source TEXT,
  undoes ${integer},
  undone_by ${integer},
  hard INTEGER NOT NULL,
  summary TEXT NOT NULL
)${options};

CREATE TABLE journal (
  id ${id},
  change_id ${integer} NOT NULL,
  kind TEXT NOT NULL,
  row_id ${integer} NOT NULL,
  entity_id ${integer} NOT NULL,
  other_id ${integer},
  verb TEXT NOT NULL,
  before TEXT,
  after TEXT NOT NULL
)${options};
CREATE INDEX journal_change ON journal (change_id, id);
`;
}

/**
 * The unique key of a name of any length: 128 bits of its SHA-256 in base64url. Indexes on the names themselves would
 * double their size on disk, and PostgreSQL's cannot contain long names.
 */
export function digest(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 22);
}

/** The key of an observation, unique in its entity: 52 bits of its SHA-256. */
export function contentKey(text: string): number {
  return Number.parseInt(hash("sha256", text, "hex").slice(0, 13), 16);
}
