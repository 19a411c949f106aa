import { unquoted } from "@refmcp/sql/names";
import type Database from "better-sqlite3";
import { rowsFrom } from "../driver/rows.ts";
import { folded, statementOf, type Token, tokenize } from "../gate/tokens.ts";
import { watched } from "./effects.ts";

export type Kind = "insert" | "update" | "delete";

const KINDS: readonly Kind[] = ["insert", "update", "delete"];
const EVENT = /^(insert|update|delete)$/i;

/** What statements can change, also through triggers and foreign keys. */
interface Reach {
  /** By the folded names of tables and views. */
  readonly kinds: ReadonlyMap<string, ReadonlySet<Kind>>;
  /** Whether a REPLACE may delete rows, for which SQLite runs no trigger. */
  readonly replaces: boolean;
}

/**
 * Computes what statements can change. What they and the triggers do is in their texts, so it is enough to follow the names
 * in them.
 */
export function reachOf(database: Database.Database, statements: readonly string[]): Reach {
  const schema = rowsFrom<{ type: string; name: string; table: string; sql: string }>(
    database,
    `SELECT type, lower(name) AS name, lower(tbl_name) AS "table", sql FROM main.sqlite_schema
     WHERE type IN ('table', 'view', 'trigger') AND sql IS NOT NULL`,
  );
  const names = new Set(schema.flatMap(({ type, name }) => (type === "trigger" ? [] : [name])));
  const triggers = schema.flatMap(({ type, table, sql }) => {
    if (type !== "trigger") return [];
    const tokens = tokenize(sql);
    const begin = tokens.findIndex(({ kind, text }) => kind === "word" && /^begin$/i.test(text));
    const event = tokens.find((token) => token.kind === "word" && EVENT.test(token.text));
    return [{ table, on: event?.text.toLowerCase(), body: tokens.slice(begin) }];
  });
  const cascades = rowsFrom<{ child: string; parent: string }>(
    database,
    `SELECT lower(m.name) AS child, lower(f."table") AS parent FROM main.sqlite_schema m, pragma_foreign_key_list(m.name) f
     WHERE m.type = 'table' AND m.sql LIKE '%REFERENCES%'
       AND (f.on_update NOT IN ('NO ACTION', 'RESTRICT') OR f.on_delete NOT IN ('NO ACTION', 'RESTRICT'))`,
  );
  const kinds = new Map<string, Set<Kind>>();
  let replaces = false;
  const waiting: { name: string; kind: Kind }[] = [];
  const follow = (tokens: readonly Token[], changes: readonly Kind[], changed?: string[]) => {
    // Before a parenthesis it is the function.
    replaces ||= tokens.some(
      ({ text }, at) => /^replace$/i.test(text) && tokens[at + 1]?.text !== "(",
    );
    for (const name of changed ?? namesIn(tokens)) if (names.has(name)) add(name, changes);
  };
  const add = (name: string, changes: readonly Kind[]) => {
    const here = kinds.get(name) ?? new Set();
    kinds.set(name, here);
    for (const kind of changes) {
      if (here.has(kind)) continue;
      here.add(kind);
      waiting.push({ name, kind });
    }
  };
  for (const sql of statements) {
    const statement = statementOf(sql);
    const { tokens } = statement;
    // Other tables are only read there: SQLite has no changes in a CTE.
    const { target = "", verb } = watched(statement);
    const changes = /^(?:CREATE|ALTER|DROP)$/.test(verb) ? KINDS : kindsIn(tokens);
    follow(tokens, changes, names.has(target) ? [target] : undefined);
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { name, kind } = next;
    for (const { table, on, body } of triggers)
      if (table === name && on === kind) follow(body, kindsIn(body));
    if (kind !== "insert")
      for (const { parent, child } of cascades)
        if (parent === name) add(child, ["update", "delete"]);
    // UNIQUE ON CONFLICT REPLACE
    replaces ||= schema.some(
      (object) => object.name === name && /\breplace\b(?!\s*\()/i.test(object.sql),
    );
    // Here, so that the cascades of these rows are followed too.
    if (replaces) for (const reached of kinds.keys()) add(reached, ["delete"]);
  }
  return { kinds, replaces };
}

function kindsIn(tokens: readonly Token[]): Kind[] {
  const words = new Set(
    tokens.map(({ kind, text }) => (kind === "word" ? text.toLowerCase() : "")),
  );
  if (words.has("replace")) return [...KINDS];
  return KINDS.filter((kind) => words.has(kind));
}

/** All names in a text, folded, however they are quoted. */
function namesIn(tokens: readonly Token[]): Set<string> {
  const named = tokens.filter(({ kind }) => kind === "word" || kind === "name" || kind === "text");
  return new Set(named.map(({ text }) => unquoted(folded(text))));
}
