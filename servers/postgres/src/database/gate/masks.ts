import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { quoteIdentifier } from "@refmcp/sql";
import { type Mask, maskedNotice, masksOf } from "@refmcp/sql/masks";
import { failure } from "../errors.ts";
import { mentionedBy } from "./functions.ts";
import { pairsOf, type Reach, type Rows, readReach } from "./mask-reach.ts";
import {
  commandName,
  listOf,
  namesOf,
  only,
  parseSql,
  type Tree,
  tokensOf,
  treeOf,
  walk,
} from "./syntax.ts";

/** Empty on a standby, where it does not name all running transactions. */
const SNAPSHOT =
  "SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN '' ELSE pg_catalog.pg_current_snapshot()::text END AS at";

const RESOLVE = `SELECT n.name AS asked, c.oid::int8::text AS id, c.relkind::text AS kind, c.relhasrules AS "hasRules" FROM pg_catalog.unnest($1::text[]) n (name) JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(n.name)`;

const WITHOUT_ORDER = `SELECT ${["indexscan", "indexonlyscan"].map((one) => `pg_catalog.set_config('enable_${one}', 'off', true)`).join(", ")},
  pg_catalog.set_config('enable_seqscan', 'on', true), pg_catalog.set_config('enable_bitmapscan', 'on', true)`;

const SHAPE = `SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name,
    CASE WHEN c.relkind = 'v' THEN pg_catalog.pg_get_viewdef(c.oid) END AS definition,
    (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('name', a.attname, 'type', CASE t.typtype WHEN 'd' THEN pg_catalog.format_type(t.typbasetype, t.typtypmod)
      ELSE pg_catalog.format_type(a.atttypid, a.atttypmod) END, 'isReadable', pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')) ORDER BY a.attnum)
     FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::text::oid`;

/** Whole rows are references to column 0 in the stored tree. */
const READS_MASKED = `SELECT EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = $1::text::oid AND (r.ev_action::text LIKE '%:varattno 0 %'
  OR EXISTS (SELECT FROM pg_catalog.pg_depend d LEFT JOIN pg_catalog.pg_attribute a ON d.refclassid = 'pg_catalog.pg_class'::regclass AND a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid AND d.refobjid <> r.ev_class
      AND ((d.refobjid::int8::text, a.attname::text) IN (SELECT * FROM ROWS FROM (pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[])) masked (t, c))
        OR (d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid::int8::text = ANY ($4::text[]))
        OR d.refclassid::regclass::text || ' ' || d.refobjid = ANY ($5::text[]))))) AS reads`;

const SAMPLED = `SELECT n.nspname AS schema, c.relname AS relation, c.oid::int8::text AS id, c.relkind IN ('m', 'i', 'I') AS "isWhole"
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
  WHERE c.oid::int8::text = ANY ($1::text[]) OR i.indrelid::int8::text = ANY ($1::text[])`;

interface Shape {
  readonly name: string;
  readonly definition: string | null;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly isReadable: boolean;
  }[];
}

export interface Unmasked {
  readonly sql: string;
  readonly notices: readonly string[];
}

/**
 * Keeps the values of masked columns out of statements. Every table in a statement's syntax tree that has masked columns is
 * replaced by a subquery in which they are NULL, and every view that reads such a table by its definition, with the same
 * replacements. Whatever the rest of the statement does, it can't see the values: neither by a whole row nor by a filter,
 * an order or a plan. What can't be replaced is refused.
 */
export class Masks {
  readonly #masks: readonly Mask[];
  /** The last reach, with the snapshot in which it was read. */
  #known: { readonly at: string; readonly reach: Reach } | undefined;

  /** @param given values of `--mask` */
  constructor(given: readonly string[]) {
    this.#masks = masksOf(given);
  }

  get isOn(): boolean {
    return this.#masks.length > 0;
  }

  /**
   * The statement to run instead of one that the gate accepted, in the same transaction.
   *
   * @param mode READ WRITE also accepts changes of masked tables that do not read masked columns
   * @throws ToolError `denied` if it can't be proven that no masked value is read
   */
  async applied(
    session: Rows,
    sql: string,
    mode: "READ ONLY" | "READ WRITE" = "READ ONLY",
  ): Promise<Unmasked> {
    if (!this.isOn) return { sql, notices: [] };
    const reach = await this.#reach(session, mode);
    const rewriting = {
      session,
      reach,
      seen: new Set<string>(),
      depth: 0,
      isWriting: mode === "READ WRITE",
    };
    const { seen } = rewriting;
    const safe = await rewritten(rewriting, sql);
    return { sql: safe, notices: seen.size === 0 ? [] : [maskedNotice(seen)] };
  }

  /**
   * Whether a column's statistics, which are samples of its values, must not be shown or used: those of masked columns, of
   * materialized views that may read them, and of expressions in indexes of their tables.
   */
  async hidden(
    session: Rows,
  ): Promise<(schema: string, relation: string, column: string) => boolean> {
    if (!this.isOn) return () => false;
    const { columns, relations } = await this.#reach(session, "READ ONLY");
    const found = await session.rows<{
      schema: string;
      relation: string;
      id: string;
      isWhole: boolean;
    }>(SAMPLED, [[...relations]]);
    const nameOf = (schema: string, relation: string) => JSON.stringify([schema, relation]);
    const byName = new Map(
      found.map((one) => [
        nameOf(one.schema, one.relation),
        one.isWhole ? undefined : (columns.get(one.id) ?? new Set()),
      ]),
    );
    return (schema, relation, column) => {
      const name = nameOf(schema, relation);
      return byName.has(name) && byName.get(name)?.has(column) !== false;
    };
  }

  /**
   * Removes from an error of PostgreSQL what may show values of rows that the caller did not write.
   *
   * @param handlesRows whether the work sent recorded rows back to PostgreSQL, so that any message may have values of them
   */
  hideValues(error: unknown, handlesRows = false): void {
    if (!this.isOn || !(error instanceof Error) || !("severity" in error)) return;
    const { code, where } = treeOf(error);
    if (String(code).startsWith("23")) Object.assign(error, { detail: undefined });
    // Where in a function; for COPY and JSON, where in the caller's text.
    const isForeign = typeof where === "string" && !/^(COPY |JSON)/.test(where);
    if (!handlesRows && !isForeign) return;
    const what = handlesRows ? "PostgreSQL refused recorded rows" : "A function or trigger failed";
    Object.assign(error, {
      message: `${what}. Its message is not shown: it could contain masked values`,
      detail: undefined,
      hint: undefined,
    });
  }

  async #reach(session: Rows, mode: string): Promise<Reach> {
    // The same snapshot shows the same catalogs, except for changes of the transaction itself.
    const [now] = await session.rows<{ at: string }>(SNAPSHOT);
    const at = mode === "READ ONLY" ? (now?.at ?? "") : "";
    if (at !== "" && this.#known?.at === at) return this.#known.reach;
    const reach = await readReach(session, this.#masks);
    this.#known = { at, reach };
    return reach;
  }
}

interface Rewriting {
  readonly session: Rows;
  readonly reach: Reach;
  /** Masked columns that were replaced, for the notice. */
  readonly seen: Set<string>;
  /** How many views enclose the statement. */
  readonly depth: number;
  readonly isWriting: boolean;
}

const MAX_DEPTH = 30;
/** Where a statement only reads a relation. */
const READS = /^(fromClause|larg|rarg|usingClause|sourceRelation)$/;
const TARGETS = /^(Insert|Update|Delete)Stmt$/;
const CHANGING = /^((Insert|Update|Delete|Merge|CreateTableAs)Stmt|intoClause)$/;
/** Changing statements that neither open a new way to the values nor rename what is masked. */
const HARMLESS =
  /^(Select|Insert|Update|Delete|Merge|Explain|CreateTableAs|Create|CreateSeq|AlterSeq|CreateEnum|AlterEnum|CreateSchema|AlterTable|Index|Drop|Truncate|Vacuum|Comment)Stmt$/;
/** Statements that remove or measure a table, but show nothing of it. */
const NAMING = /^(Drop|Truncate|Vacuum|Comment)Stmt$/;

/** A relation in a syntax tree: in a list, `holder` is the node around it. */
interface Named {
  readonly node: Tree;
  readonly holder: Tree | undefined;
  readonly name: string;
  readonly use: "read" | "target" | "other";
}

async function rewritten(rewriting: Rewriting, sql: string): Promise<string> {
  const { session, reach, depth, isWriting } = rewriting;
  if (depth > MAX_DEPTH)
    throw refused("The views are nested too deeply to keep masked columns hidden.");
  const tree = treeOf(await parseSql(sql));
  const [kind] = only(treeOf(treeOf(listOf(tree.stmts)[0]).stmt));
  const { named, ctes, isChanging } = inspected(tree, reach, isWriting);
  const names = [...new Set(named.map(({ name }) => name))];
  const rows =
    names.length === 0 ? [] : await session.rows<Relation & { asked: string }>(RESOLVE, [names]);
  const found = new Map(rows.map((row) => [row.asked, row]));
  const subqueries = new Map<Tree, string>();
  // Otherwise rows could come in the order of masked values, or rows that are alike in other columns.
  if (reach.hasOrder && rows.some(({ id }) => reach.relations.has(id)))
    await session.rows(WITHOUT_ORDER);
  for (const { node, holder, name, use } of named) {
    const relation = found.get(name);
    if (relation === undefined) continue;
    const { id, kind: relkind, hasRules } = relation;
    if (relkind === "t" || reach.revealing.has(id))
      throw refused(`${name} is blocked, because it can show values of masked columns.`);
    if (!reach.relations.has(id)) continue;
    const masked = reach.columns.get(id);
    const isView = relkind === "v" || relkind === "m";
    if (use === "target") {
      if (masked === undefined || isView || hasRules)
        throw refused(`${name} has rules that read masked columns, so it can't be changed here.`);
      requireBlind(tree, node, masked, await shapeOf(session, id));
    } else if (use === "other" || holder === undefined) {
      if ((masked !== undefined || isView) && !NAMING.test(kind))
        throw refused(
          `${commandName(kind)} can't use ${name} like this, because it has masked columns.`,
          "Write SELECT with FROM table, and ask the user to change the schema of such tables in psql.",
        );
    } else {
      const isReading = isView && (await readsMasked(session, reach, id));
      if (isChanging && isReading)
        throw refused(`The change reads ${name}, a view of masked columns.`);
      if (isChanging && masked !== undefined)
        requireBlind(tree, node, masked, await shapeOf(session, id));
      if (isReading && relkind === "m")
        throw refused(`The materialized view ${name} contains what it read from masked columns.`);
      if (masked === undefined && !isReading) continue;
      if (node.schemaname === undefined && ctes.has(String(node.relname)))
        throw refused(
          `${name} is both a WITH query and a relation with masked columns.`,
          "Give the WITH query another name.",
        );
      subqueries.set(holder, await subqueryOf(rewriting, relation, node, isReading));
    }
  }
  return subqueries.size === 0 ? sql : await replaced(sql, tree, subqueries);
}

/** The relations and WITH queries of a statement. @throws ToolError `denied` for what masks never allow */
function inspected(tree: Tree, reach: Reach, isWriting: boolean) {
  const uses = new Map<Tree, { use: Named["use"]; holder: Tree | undefined }>();
  const nodes: Tree[] = [];
  const ctes = new Set<string>();
  let isChanging = false;
  walk(tree, (key, value) => {
    const node = treeOf(value);
    if (READS.test(key))
      for (const one of [value].flat()) {
        const holder = treeOf(one);
        if (typeof treeOf(holder.RangeVar).relname === "string")
          uses.set(treeOf(holder.RangeVar), { use: "read", holder });
      }
    isChanging ||= CHANGING.test(key);
    if (TARGETS.test(key)) uses.set(treeOf(node.relation), { use: "target", holder: undefined });
    if (typeof node.relname === "string") nodes.push(node);
    if (key === "CommonTableExpr") ctes.add(String(node.ctename));
    if (isWriting && /^[A-Z]\w*Stmt$/.test(key) && !HARMLESS.test(key))
      throw refused(
        `${commandName(key)} is blocked while columns are masked, because it could open another way to their values.`,
        "Ask the user to do this in psql.",
      );
    const mentions = typeof node.relname === "string" ? [] : mentionedBy(key, value);
    const called = mentions
      .map((mention) => mention.slice(mention.indexOf(" ") + 1))
      .find((name) => reach.calls.has(name));
    if (called !== undefined)
      throw refused(
        `${oneLine(called)} is blocked, because a function behind it can read masked columns.`,
      );
  });
  const named = nodes.map((node): Named => {
    const { use = "other", holder } = uses.get(node) ?? {};
    const parts = [node.catalogname, node.schemaname, node.relname].filter(
      (one) => typeof one === "string",
    );
    return { node, holder, use, name: parts.map((one) => quoteIdentifier(String(one))).join(".") };
  });
  return { named, ctes, isChanging };
}

interface Relation {
  readonly id: string;
  readonly kind: string;
  readonly hasRules: boolean;
}

async function shapeOf(session: Rows, id: string): Promise<Shape> {
  const [shape] = await session.rows<Shape>(SHAPE, [id]);
  if (shape === undefined) throw new ToolError("conflict", "A table was dropped at the same time.");
  return shape;
}

/** Whether a view reads a masked column or a whole row, which PostgreSQL does not record, or another such view. */
async function readsMasked(
  session: Rows,
  { columns, relations, functions }: Reach,
  id: string,
): Promise<boolean> {
  const others = [...relations].filter((one) => !columns.has(one));
  const [found] = await session.rows<{ reads: boolean }>(READS_MASKED, [
    id,
    ...pairsOf(columns),
    others,
    [...functions],
  ]);
  return found?.reads !== false;
}

/** The subquery that is read instead of a relation, in parentheses. */
async function subqueryOf(
  rewriting: Rewriting,
  { id }: Relation,
  node: Tree,
  isReading: boolean,
): Promise<string> {
  const { session, reach, seen, depth } = rewriting;
  const { name, definition, columns } = await shapeOf(session, id);
  const inner =
    isReading && definition !== null
      ? `(${(await rewritten({ ...rewriting, isWriting: false, depth: depth + 1 }, definition)).replace(/;\s*$/, "")}) masked`
      : `${node.inh === true ? "" : "ONLY "}${name}`;
  const masked = reach.columns.get(id);
  const list = columns.flatMap((column) => {
    const quoted = quoteIdentifier(column.name);
    if (masked?.has(column.name) === true) {
      seen.add(`${name}.${/^[a-z_][a-z0-9_]*$/.test(column.name) ? column.name : quoted}`);
      return [`NULL::${column.type} AS ${quoted}`];
    }
    return column.isReadable ? [quoted] : [];
  });
  return `(SELECT ${list.join(", ")} FROM ${inner})`;
}

const SYSTEM_COLUMNS = ["ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"];

/**
 * @throws ToolError `denied` unless a change reads none of the masked columns of a relation, as far as its syntax tree tells:
 * those that it changes can't be hidden from it, and it must not store NULL for those that it reads
 */
function requireBlind(
  tree: Tree,
  relation: Tree,
  masked: ReadonlySet<string>,
  { name, columns }: Shape,
): void {
  const alias = treeOf(relation.alias);
  const rows = new Set([relation.relname, alias.aliasname, "old", "new", "excluded"]);
  const known = new Set([...columns.map((column) => column.name), ...SYSTEM_COLUMNS]);
  const hint = `Masked: ${[...masked].sort().join(", ")}. A change can set them, but not read them: not in WHERE, SET x = …, SELECT *, USING, ON CONFLICT or RETURNING.`;
  const refuse = (what: string) => {
    throw refused(
      `The change reads ${what} of ${name}, which ${masked.size === 1 ? "has a masked column" : "has masked columns"}.`,
      hint,
    );
  };
  if (listOf(alias.colnames).length > 0) refuse("renamed columns");
  walk(tree, (key, value) => {
    const { fields, name: set, indirection, options, isNatural, usingClause } = treeOf(value);
    const isPart = key === "ResTarget" && masked.has(String(set)) && listOf(indirection).length > 0;
    const names = key === "ColumnRef" ? namesOf(fields) : namesOf(usingClause);
    const found = isPart ? String(set) : names.find((one) => masked.has(one));
    if (found !== undefined) refuse(`${oneLine(found)}`);
    if (isNatural === true) refuse("all columns, by NATURAL JOIN,");
    if (key === "returningClause" && listOf(options).length > 0)
      refuse("whole rows, by RETURNING WITH,");
    if (key !== "ColumnRef") return;
    const qualifier = names.length === 1 ? names[0] : names.at(-2);
    const isRow = rows.has(qualifier) && (names.length === 1 || !known.has(names.at(-1) ?? ""));
    if (isRow || names.length < listOf(fields).length) refuse("whole rows");
  });
}

/** What the parser adds about positions. */
const POSITION = /^(location|stmt_len|stmt_location|.*_location|list_(start|end))$/;

/**
 * Replaces relations in the text of a statement. The result must have the same syntax tree as the statement with exactly these
 * nodes replaced.
 *
 * @param subqueries by the node around the relation
 */
async function replaced(
  sql: string,
  tree: Tree,
  subqueries: ReadonlyMap<Tree, string>,
): Promise<string> {
  const text = Buffer.from(sql);
  const tokens = await tokensOf(sql);
  if (tokens === undefined) throw unclear();
  const expected = new Map<Tree, unknown>();
  let result = "";
  let end = text.length;
  const located = [...subqueries].map(([holder, subquery]) => {
    const node = treeOf(holder.RangeVar);
    return { holder, subquery, node, at: Number(node.location ?? 0) };
  });
  for (const { holder, subquery, node, at } of located.sort((a, b) => b.at - a.at)) {
    const token = tokens.findIndex(({ start }) => start === at);
    const parts = [node.catalogname, node.schemaname, node.relname].filter(
      (one) => typeof one === "string",
    );
    const last = tokens[token + 2 * parts.length - 2];
    const before = (back: number) => tokens[token - back]?.text.toUpperCase();
    const back = node.inh === true ? 0 : 1;
    const isTable = before(back + 1) === "TABLE";
    const first = tokens[token - back - (isTable ? 1 : 0)];
    if (token < 0 || last === undefined || first === undefined) throw unclear();
    const alias = quoteIdentifier(String(treeOf(node.alias).aliasname ?? node.relname));
    const shown = node.alias === undefined && !isTable ? ` AS ${alias}` : "";
    result = `${isTable ? "SELECT * FROM " : ""}${subquery}${isTable ? ` AS ${alias}` : shown}${text.toString("utf8", last.end, end)}${result}`;
    end = first.start;
    const [only] = listOf(await fromOf(`SELECT FROM ${subquery} AS ${alias}`));
    const { RangeSubselect } = treeOf(only);
    const name = node.alias === undefined ? {} : { alias: node.alias };
    expected.set(holder, { RangeSubselect: { ...treeOf(RangeSubselect), ...name } });
  }
  result = text.toString("utf8", 0, end) + result;
  const plain = (value: unknown, nodes?: ReadonlyMap<Tree, unknown>) =>
    JSON.stringify(value, (key, one) =>
      POSITION.test(key) ? undefined : (nodes?.get(one) ?? one),
    );
  const now = await parseSql(result).catch(() => undefined);
  if (plain(now) !== plain(tree, expected)) throw unclear();
  return result;
}

async function fromOf(sql: string): Promise<unknown> {
  const [first] = (await parseSql(sql)).stmts ?? [];
  return treeOf(treeOf(first?.stmt).SelectStmt).fromClause;
}

const refused = (
  message: string,
  hint = "Read the other columns, or ask the user to change --mask.",
) => failure("masked", message, { hint });

const unclear = () =>
  refused(
    "This form of naming a table can't be used on one with masked columns.",
    "Write FROM table or FROM schema.table AS name, without TABLESAMPLE.",
  );
