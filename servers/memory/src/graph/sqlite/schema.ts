import { tablesOf } from "../sql/schema.ts";

/** "RMEM" marks the file as a memory, so that other programs' databases are never written to. */
export const APPLICATION_ID = 0x524d454d;
export const SCHEMA_VERSION = 2;

const TABLES = tablesOf({
  id: "INTEGER PRIMARY KEY AUTOINCREMENT",
  integer: "INTEGER",
  byCodePoint: "TEXT",
  options: " STRICT",
});

/**
 * The tables of a graph and its search index, which has one row for each live entity: its name, type and observations, folded.
 * The index does not store these texts ("contentless"), so a row is removed by its id, even if another Node.js version with
 * other Unicode tables folded it. `terms` lists the stems in the index.
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
