import { TO_INDEX } from "../sql/reader.ts";

/** "RMEM": marks a database file as ours, so that no other program's database is written to. */
export const APPLICATION_ID = 0x524d454d;
export const SCHEMA_VERSION = 2;

/**
 * One row of the search index for each live entity: its name, its type and its observations, folded. The index stores
 * none of it ("contentless"): a row is taken out by its id, whatever the Unicode tables of the running Node.js fold it to
 * today. `terms` lists the stems in it.
 */
const SEARCH = `
CREATE VIRTUAL TABLE search USING fts5 (
  name, type, content, content = '', contentless_delete = 1,
  tokenize = "porter unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE terms USING fts5vocab (search, row);
CREATE TABLE counters (kind INTEGER PRIMARY KEY, live INTEGER NOT NULL, removed INTEGER NOT NULL) STRICT;
`;

/** The tables of a graph. Rows that are deleted stay with the change that deleted them, until they are purged. */
export const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE entities (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  folded TEXT NOT NULL,
  type TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  removed_by INTEGER
) STRICT;
CREATE UNIQUE INDEX entities_name ON entities (name_key) WHERE removed_by IS NULL;
CREATE INDEX entities_folded ON entities (folded) WHERE removed_by IS NULL;
CREATE INDEX entities_updated ON entities (updated_at) WHERE removed_by IS NULL;
CREATE INDEX entities_type ON entities (type) WHERE removed_by IS NULL;

CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  entity_id INTEGER NOT NULL,
  content TEXT NOT NULL,
  content_key INTEGER NOT NULL,
  source TEXT,
  created_at INTEGER NOT NULL,
  removed_by INTEGER
) STRICT;
CREATE UNIQUE INDEX observations_content ON observations (entity_id, content_key) WHERE removed_by IS NULL;
CREATE INDEX observations_entity ON observations (entity_id, id);

CREATE TABLE relations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  from_id INTEGER NOT NULL,
  to_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  removed_by INTEGER
) STRICT;
CREATE UNIQUE INDEX relations_ends ON relations (from_id, to_id, type) WHERE removed_by IS NULL;
CREATE INDEX relations_to ON relations (to_id, id) WHERE removed_by IS NULL;

CREATE TABLE changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  source TEXT,
  undoes INTEGER,
  undone_by INTEGER,
  hard INTEGER NOT NULL,
  items TEXT NOT NULL
) STRICT;
${SEARCH}
INSERT INTO counters VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0);
`;

/** What `upgrade` in file.ts does to a file of version 1 before and after it writes the journal anew. */
export const FROM_1 = {
  tables: `
DROP TABLE words;
DROP TABLE grams;
${SEARCH}
INSERT INTO counters
  ${["entities", "observations", "relations"].map((table, kind) => `SELECT ${kind}, count(*) - count(removed_by), count(removed_by) FROM ${table}`).join(" UNION ALL ")};
ALTER TABLE changes ADD COLUMN items TEXT NOT NULL DEFAULT '[]';
DROP INDEX observations_content;
ALTER TABLE observations DROP COLUMN content_key;
ALTER TABLE observations ADD COLUMN content_key INTEGER NOT NULL DEFAULT 0;
`,
  end: `
DROP TABLE change_items;
CREATE UNIQUE INDEX observations_content ON observations (entity_id, content_key) WHERE removed_by IS NULL;
INSERT INTO meta VALUES ('${TO_INDEX}', '');
`,
};
