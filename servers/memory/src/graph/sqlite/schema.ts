/** "RMEM": marks a database file as ours, so that no other program's database is written to. */
export const APPLICATION_ID = 0x524d454d;
export const SCHEMA_VERSION = 1;

/**
 * The tables of a graph. Rows that are deleted stay with the change that deleted them, until they are purged; each
 * index holds the live rows only. The search indexes hold folded text and store none of it ("contentless"): a row is
 * taken out by its id, whatever the Unicode tables of the running Node.js fold it to today.
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
  content_key TEXT NOT NULL,
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
  hard INTEGER NOT NULL
) STRICT;
CREATE TABLE change_items (
  change_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  op TEXT NOT NULL,
  row_id INTEGER NOT NULL,
  entity_id INTEGER NOT NULL,
  other_id INTEGER,
  before_value TEXT,
  after_value TEXT,
  PRIMARY KEY (change_id, seq)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE words USING fts5 (
  name, type, content, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);
CREATE VIRTUAL TABLE grams USING fts5 (
  name, type, content, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
`;
