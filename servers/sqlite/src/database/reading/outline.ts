import { cursorsOf, fitting } from "@refmcp/boundary/answer";
import { isPart, type OutlineColumn, type OutlineOptions, type OutlineTable, outlined } from "@refmcp/sql";
import { pageOf } from "@refmcp/sql/tools";
import * as z from "zod";
import { listTables, look, type Row, type Source, type Table, text } from "./catalog.ts";

/** Tables that are read at once. */
const TABLES_AT_ONCE = 100;

const COLUMNS =
  'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid';
const KEYS = 'SELECT "table" AS other, "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq';
const INDEXES = `SELECT i.name, i."unique", i.partial, group_concat(coalesce(c.name, '(expression)'), ', ') AS columns
  FROM pragma_index_list(?) i JOIN pragma_index_info(i.name) c WHERE i.origin <> 'pk' GROUP BY i.name ORDER BY i.name`;

export interface Outlining extends OutlineOptions, Source {
  /** Part of a table's name. */
  readonly query?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
}

/** Matching tables with their columns and keys, as many as fit in the answer. */
export async function outline(outlining: Outlining) {
  const { database, query, column, detail, limit, cursor } = outlining;
  const cursors = cursorsOf("describe_tables", [database, query, column, detail], z.string());
  const after = cursors.decode(cursor);
  const all = await listTables(outlining);
  const wanted = all.filter(
    ({ name }) => (after === undefined || name > after) && (query === undefined || isPart(query, name)),
  );
  const budget = outlining.budget - 300;
  const shown: ReturnType<typeof outlined>[] = [];
  let at = 0;
  for (; at < wanted.length && shown.length <= limit; at += TABLES_AT_ONCE) {
    for (const table of await described(outlining, wanted.slice(at, at + TABLES_AT_ONCE))) {
      const one = outlined(table, { column, detail });
      if (column === undefined || one.columns.length > 0) shown.push(one);
    }
    if (fitting(shown, budget) < shown.length) break;
  }
  const isMore = at + TABLES_AT_ONCE < wanted.length;
  const { page, ...next } = pageOf(shown, { limit, budget, isMore }, (last) =>
    cursors.encode(shown[last]?.table ?? ""),
  );
  return { tables: page, ...next };
}

/** A broken view has no columns. */
async function described(source: Source, tables: readonly Table[]): Promise<OutlineTable[]> {
  const asked = tables.flatMap(({ name }) => [COLUMNS, KEYS, INDEXES].map((sql) => [sql, name] as const));
  const rows = await look(source, asked, { isTolerant: true });
  return tables.map(({ name, type }, index) => {
    const [columns = [], keys = [], indexes = []] = rows.slice(index * 3, index * 3 + 3);
    return {
      table: name,
      type,
      columns: columns.map((one) => columnOf(one, keys)),
      indexes: indexes.map(indexText),
    };
  });
}

function columnOf(column: Row, keys: readonly Row[]): OutlineColumn {
  const key = keys.find(({ from }) => from === column.name);
  return {
    name: text(column.name),
    type: text(column.type),
    notNull: Number(column.notnull) === 1,
    primaryKey: Number(column.pk) > 0,
    references: key && (key.to === null ? text(key.other) : `${text(key.other)}.${text(key.to)}`),
    default: column.dflt_value === null ? undefined : text(column.dflt_value),
  };
}

const indexText = ({ name, unique, partial, columns }: Row) =>
  `${text(name)} (${text(columns)})${Number(unique) === 1 ? " unique" : ""}${Number(partial) === 1 ? " partial" : ""}`;
