// Our own statements about the schema, each for one table.

/** Tables and views, without SQLite's own and the shadow tables of virtual ones. */
export const TABLES = `
SELECT name, type, wr FROM pragma_table_list
WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
ORDER BY name`;

/** Without the hidden columns of virtual tables, which SELECT * omits. */
export const COLUMNS = `
SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)
WHERE hidden <> 1 ORDER BY cid`;

/** Foreign keys with lists of columns; without "to" they reference the primary key. */
export const KEYS = `
SELECT "table" AS other, json_group_array("from") AS "from", json_group_array("to") AS "to", on_delete
FROM (SELECT * FROM pragma_foreign_key_list(?) ORDER BY id, seq)
GROUP BY id ORDER BY id`;

export const REFERRERS = `
SELECT other, json_group_array("from") AS "from", json_group_array("to") AS "to", on_delete
FROM (
  SELECT s.name AS other, f.* FROM sqlite_schema s JOIN pragma_foreign_key_list(s.name) f
  WHERE s.type = 'table' AND lower(f."table") = lower(?) ORDER BY s.name, f.id, f.seq)
GROUP BY other, id ORDER BY other, id`;

export const INDEXES = `
SELECT i.name, i."unique", i.partial, json_group_array(c.name) AS columns
FROM pragma_index_list(?) i JOIN pragma_index_info(i.name) c
GROUP BY i.name ORDER BY i.name`;

/** Columns that have their own unique index, so that their values differ. */
export const UNIQUE = `
SELECT max(c.name) AS name FROM pragma_index_list(?) i JOIN pragma_index_info(i.name) c
WHERE i."unique" = 1 AND i.partial = 0
GROUP BY i.name HAVING count(*) = 1`;

export const DEFINITIONS = `
SELECT name, type, sql FROM sqlite_schema
WHERE tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL ORDER BY type, name`;

export const FLAGS = "SELECT strict, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?";

/** The DDL of a table, for its CHECK constraints. */
export const DDL = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?";

/** The columns that can be written. */
export const WRITABLE = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid";
