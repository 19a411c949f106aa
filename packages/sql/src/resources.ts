import { cursorsOf, ToolError } from "@refmcp/boundary/answer";
import { resourceFor } from "@refmcp/core";
import * as z from "zod";
import { bounded } from "./answer/describe.ts";
import { findRelation, relationsOf } from "./answer/relations.ts";
import { readPage } from "./answer/results.ts";
import type { Databases } from "./databases.ts";

/** For lists and completions, which no call can cancel: only the time limit ends them. */
const never = () => new AbortController().signal;
/** Clients read up to 64 pages. */
const LISTED = 500;
/** Keys among which a completion looks: the first ones. */
const KEYS = 10_000;

const resource = resourceFor<Databases>();

const tablesOf = async (databases: Databases) =>
  await relationsOf(await databases.at(), undefined, { signal: never() });

const table = async (value: string, databases: Databases) => {
  const begins = (text: string) => text.toLowerCase().startsWith(value.toLowerCase());
  const tables = await tablesOf(databases);
  return tables.flatMap(({ name, written }) => (begins(name) || begins(written) ? [written] : []));
};

/** A table of the first database, and the column of its primary key. */
async function keyed(databases: Databases, name: string, signal: AbortSignal) {
  const at = await databases.at();
  const relation = await findRelation(databases, at, { table: name }, { signal });
  const [facts] = await at.facts([relation], { signal });
  const [key, ...more] = (facts?.columns ?? []).filter(({ primaryKey }) => primaryKey === true);
  if (key !== undefined && more.length === 0) return { from: relation.written, key: key.name };
  throw new ToolError("invalid", `${relation.written} has no primary key of one column.`, {
    hint: `Call ${databases.kind.names.query} to see its rows.`,
  });
}

export const schemaResource = resource({
  uriTemplate: "schema://{table}",
  name: "schema",
  title: "A table's schema",
  description: "Everything about a table of the first database: name, or schema.name.",
  mimeType: "application/json",
  async read({ table: name }, databases, { budget, signal }) {
    const at = await databases.at();
    const relation = await findRelation(databases, at, { table: name }, { signal });
    return JSON.stringify(bounded(await at.describe(relation, { signal }), budget), undefined, 2);
  },
  async list(databases, cursor) {
    const cursors = cursorsOf("schema", databases.names, z.int().min(0));
    const start = cursors.decode(cursor) ?? 0;
    const end = start + LISTED;
    // A database that can't be read lists nothing.
    const tables = databases.names.length === 0 ? [] : await tablesOf(databases).catch(() => []);
    return {
      ...(end < tables.length ? { nextCursor: cursors.encode(end) } : {}),
      resources: tables.slice(start, end).map(({ written, type }) => ({
        uri: `schema://${encodeURIComponent(written)}`,
        name: written.slice(0, 200),
        title: written.slice(0, 200),
        description: `Schema of a ${type.replace("_", " ")}.`,
        mimeType: "application/json",
      })),
    };
  },
  complete: { table },
});

export const rowResource = resource({
  uriTemplate: "rows://{table}/{key}",
  name: "row",
  title: "A row of a table",
  description: "One row of the first database by its primary key.",
  mimeType: "application/json",
  async read({ table: name, key: value }, databases, { budget, signal }) {
    const { from, key } = await keyed(databases, name, signal);
    const sql = `SELECT * FROM ${from} WHERE ${key} = $1`;
    const answer = await readPage(databases, { sql, params: [value], budget, signal });
    if (JSON.parse(answer).row_count > 0) return answer;
    throw new ToolError("not_found", `${from} has no row ${JSON.stringify(value.slice(0, 100))}.`, {
      hint: `Call ${databases.kind.names.query} to see its rows.`,
    });
  },
  complete: {
    table,
    async key(value, databases, { table: name }) {
      const table = await keyed(databases, name ?? "", never()).catch(() => undefined);
      if (table === undefined) return [];
      const { from, key } = table;
      const sql = `SELECT key FROM (SELECT CAST(${key} AS text) AS key FROM ${from} ORDER BY ${key} LIMIT ${KEYS}) k
        WHERE substr(key, 1, length(CAST($1 AS text))) = $1 LIMIT 100`;
      const question = { sql, params: [value], budget: 20_000, signal: never() };
      const { rows }: { rows: [string][] } = JSON.parse(await readPage(databases, question));
      return rows.map(([text]) => text);
    },
  },
});

export const sqlResources = [rowResource, schemaResource];
