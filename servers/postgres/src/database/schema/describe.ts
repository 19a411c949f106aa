import { ToolError } from "@refmcp/boundary/answer";
import type { Description, Relation, TableFacts, Work } from "@refmcp/sql";
import { type ColumnValues, describedValues, looksConfidential } from "@refmcp/sql/values";
import type { Sessions } from "../driver/sessions.ts";
import { DESCRIBE, FACTS } from "./describe.sql.ts";
import { RELATIONS, WRITABLE } from "./relations.sql.ts";

/** What a query returns about a column in addition to what is shown: its bare name, and its values. */
type Raw<Column> = Column & { readonly raw: string; readonly values: ColumnValues };

/** What is known about the values of a column that may be shown. */
function shownValues(name: string, { seen, ...values }: ColumnValues): ColumnValues {
  return seen === undefined || looksConfidential(name) ? values : { ...values, seen };
}

/** Short names of types that PostgreSQL writes in full. */
const SHORT: readonly (readonly [RegExp, string])[] = [
  [/^integer\b/, "int"],
  [/^boolean\b/, "bool"],
  [/^character varying/, "varchar"],
  [/^character\b/, "char"],
  [/^double precision\b/, "float8"],
  [/^(timestamp|time)(\(\d\))? without time zone/, "$1$2"],
  [/^(timestamp|time)(\(\d\))? with time zone/, "$1tz$2"],
];

/** A type, or the base type and rules of a domain, as people write it: `varchar(20)`, `timestamp`. */
const shortType = (type: string) =>
  SHORT.reduce((text, [long, short]) => text.replace(long, short), type);

/** All tables and views, or those of a schema. */
export const relationsIn = (sessions: Sessions, schema: string | undefined, work: Work) =>
  sessions.rows<Relation & Record<string, unknown>>(work, RELATIONS, [schema ?? null]);

/** The columns of a table that a file can have. */
export async function writableColumns(sessions: Sessions, { id }: Relation, work: Work) {
  const rows = await sessions.rows<{ name: string }>(work, WRITABLE, [id]);
  return rows.map(({ name }) => name);
}

/** Columns and keys of tables. */
export async function factsOf(
  sessions: Sessions,
  relations: readonly Relation[],
  work: Work,
): Promise<TableFacts[]> {
  interface Row extends Record<string, unknown> {
    readonly id: string;
    readonly columns: readonly Raw<TableFacts["columns"][number]>[];
    readonly rows: number | null;
  }
  const rows = await sessions.rows<Row>(work, FACTS, [relations.map(({ id }) => id)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return relations.map(({ id }) => {
    const row = byId.get(id);
    const columns = (row?.columns ?? []).map(({ raw, values, ...column }) => ({
      ...column,
      type: shortType(column.type),
      ...shownValues(raw, values),
      domain: values.domain && shortType(values.domain),
    }));
    return { columns, ...(row?.rows == null ? {} : { rows: Number(row.rows) }) };
  });
}

/**
 * Describes a table, view or foreign table: columns, keys in both directions, constraints, indexes, triggers, row security,
 * partitions, size, comments.
 */
export async function describe(
  sessions: Sessions,
  { id, type: kind }: Relation,
  work: Work,
): Promise<Description> {
  interface Described extends Readonly<Record<string, unknown>> {
    readonly table: string;
    readonly type: string;
    readonly columns: readonly Raw<Description["columns"][number]>[];
  }
  const query = { text: DESCRIBE, values: [id] };
  const [row] = await sessions.work({ isRepeatable: true, ...work }, (session) =>
    // `pg_get_viewdef` runs operators of the search path, so a view is shown with the schema of each name.
    kind.endsWith("view")
      ? session.lookInside<{ description: Described }>(query)
      : session.rows<{ description: Described }>(query.text, query.values),
  );
  if (row === undefined) throw new ToolError("conflict", "The table was dropped at the same time.");
  const { table, type, columns, ...facts } = row.description;
  return {
    table,
    type,
    ...facts,
    columns: columns.map(({ name, raw, type, values, ...column }) => ({
      name,
      type,
      ...describedValues(shownValues(raw, values)),
      ...column,
    })),
  };
}
