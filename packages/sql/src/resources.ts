import { cursorsOf, oneLine, ToolError } from "@refmcp/boundary/answer";
import { resourceFor } from "@refmcp/core";
import * as z from "zod";
import { bounded } from "./answer/describe.ts";
import { readPage } from "./answer/read.ts";
import { findRelation, relationsOf } from "./answer/relations.ts";
import type { Relation } from "./database.ts";
import type { Databases } from "./databases.ts";

/** For lists and completions, which no call can cancel: only the time limit ends them. */
const { signal: never } = new AbortController();
/** Clients read up to 64 pages. */
const LISTED = 500;
/** Keys among which a completion looks: the first ones. */
const KEYS = 10_000;

const resource = resourceFor<Databases>();

/** The tables of the first database; a database that can't be read lists nothing. */
async function listed(databases: Databases): Promise<Relation[]> {
  try {
    return await relationsOf(await databases.at(), undefined, { signal: never });
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}

/** Tables that begin with a value: as written in SQL, or without quotes and schema. */
const table = async (value: string, databases: Databases) => {
  const begins = (text: string) => text.toLowerCase().startsWith(value.toLowerCase());
  const all = await listed(databases);
  const some = all.filter(({ written, name }) => begins(written) || begins(name));
  return some.map(({ written }) => written);
};

/** A table of the first database, and the columns of its primary key. */
async function keyed(databases: Databases, name: string, signal: AbortSignal) {
  const at = await databases.at();
  const relation = await findRelation(databases, at, { table: name }, { signal });
  const [{ columns } = { columns: [] }] = await at.facts([relation], { signal });
  const key = columns.flatMap((column) => (column.primaryKey === true ? [column.name] : []));
  if (key.length > 0) return { from: relation.written, key };
  throw new ToolError(
    "invalid",
    `${relation.written} has no primary key, so its rows have no URI.`,
    {
      hint: `Call ${databases.kind.names.query} to see its rows.`,
    },
  );
}

/** The values of a key: the text itself, or for several columns a JSON array. */
function valuesOf(text: string, key: readonly string[]): unknown[] {
  if (key.length === 1) return [text];
  const parsed = z.array(z.unknown()).length(key.length).safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new ToolError(
    "invalid",
    `${JSON.stringify(text.slice(0, 100))} is not a key of this table.`,
    {
      hint: `The URI ends with the percent-encoded JSON array of ${key.map(oneLine).join(", ")}: [1,"a"].`,
    },
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
    const all = databases.names.length === 0 ? [] : await listed(databases);
    const end = start + LISTED;
    return {
      resources: all.slice(start, end).map(({ written, type }) => ({
        uri: `schema://${encodeURIComponent(written)}`,
        name: written.slice(0, 200),
        title: written.slice(0, 200),
        description: `Schema of a ${type.replace("_", " ")}.`,
        mimeType: "application/json",
      })),
      ...(end < all.length ? { nextCursor: cursors.encode(end) } : {}),
    };
  },
  complete: { table },
});

export const rowResource = resource({
  uriTemplate: "rows://{table}/{key}",
  name: "row",
  title: "A row of a table",
  description:
    'One row of the first database by its primary key. The key of several columns is a JSON array, percent-encoded: [1,"a"].',
  mimeType: "application/json",
  async read({ table: name, key: text }, databases, { budget, signal }) {
    const { from, key } = await keyed(databases, name, signal);
    const where = key.map((column, at) => `${column} = $${at + 1}`).join(" AND ");
    const sql = `SELECT * FROM ${from} WHERE ${where}`;
    const asked = { sql, params: valuesOf(text, key), maxRows: 1, budget, signal };
    const answer = await readPage(databases, asked);
    if (JSON.parse(answer).row_count > 0) return answer;
    throw new ToolError("not_found", `${from} has no row ${JSON.stringify(text.slice(0, 100))}.`, {
      hint: `Call ${databases.kind.names.query} to see its rows.`,
    });
  },
  complete: {
    table,
    async key(value, databases, { table: name }) {
      if (name === undefined) return [];
      const { from, key } = await keyed(databases, name, never);
      if (key.length > 1) return [];
      const sql = `SELECT key FROM (SELECT CAST(${key[0]} AS text) AS key FROM ${from} ORDER BY ${key[0]} LIMIT ${KEYS}) k
        WHERE substr(key, 1, length(CAST($1 AS text))) = $1 LIMIT 100`;
      const asked = { sql, params: [value], maxRows: 100, budget: 20_000, signal: never };
      const { rows }: { rows: [string][] } = JSON.parse(await readPage(databases, asked));
      return rows.map(([text]) => text);
    },
  },
});

export const sqlResources = [rowResource, schemaResource];
