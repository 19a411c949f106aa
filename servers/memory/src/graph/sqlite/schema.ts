import { tablesOf } from "../sql/schema.ts";

/** "RMEM": marks a database file as ours, so that no other program's database is written to. */
export const APPLICATION_ID = 0x524d454d;
export const SCHEMA_VERSION = 2;

const TABLES = tablesOf({
  id: "INTEGER PRIMARY KEY AUTOINCREMENT",
  integer: "INTEGER",
  byCodePoint: "TEXT",
  options: " STRICT",
});

/**
 * The tables of a graph and its search index, which has one row for each live entity: its name, its type and its
 * observations, folded. It stores none of them ("contentless"): a row is taken out by its id, whatever the Unicode
 * tables of the running Node.js fold it to today. `terms` lists the stems in it.
 */
export const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
${TABLES}
CREATE VIRTUAL TABLE search USING fts5 (
  name, type, content, content = '', contentless_delete = 1,
  tokenize = "porter unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE terms USING fts5vocab (search, row);
`;
