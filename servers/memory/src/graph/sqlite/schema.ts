/** "RMEM": marks a database file as ours, so that no other program's database is written to. */
export const APPLICATION_ID = 0x524d454d;
export const SCHEMA_VERSION = 2;

/**
 * The tables of a graph. Rows that are deleted stay with the change that deleted them, until they are purged.
 *
 * The search index has one row for each live entity: its name, its type and its observations, folded. It stores none of
 * them ("contentless"): a row is taken out by its id, whatever the Unicode tables of the running Node.js fold it to
 * today. `terms` lists the stems in it.
 */
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

CREATE VIRTUAL TABLE search USING fts5 (
  name, type, content, content = '', contentless_delete = 1,
  tokenize = "porter unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE terms USING fts5vocab (search, row);
CREATE TABLE counters (kind INTEGER PRIMARY KEY, live INTEGER NOT NULL, removed INTEGER NOT NULL) STRICT;

INSERT INTO counters VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0);
`;
