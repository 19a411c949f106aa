import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { quoteIdentifier } from "@refmcp/sql";
import { type Mask, maskedNotice, masksOf } from "@refmcp/sql/masks";
import type { Connection } from "../driver/connection.ts";
import { failure } from "../errors.ts";
import { calledBy } from "./functions.ts";
import { commandName, listOf, namesOf, only, parseSql, type Tree, tokensOf, treeOf, walk } from "./syntax.ts";

type Rows = Pick<Connection, "rows">;

/** Relations that show values of other tables or statements of other sessions. */
const REVEALING =
  `pg_stats pg_stats_ext pg_stats_ext_exprs pg_statistic pg_statistic_ext_data pg_stat_activity
  pg_stat_statements`.split(/\s+/);
const REVEALING_CALLS =
  "pg_stat_get_activity pg_stat_get_backend_activity pg_stat_statements bt_page_items".split(" ");
/** Text that a function body may run as SQL, or that can hide a name. */
const DYNAMIC = /\bexecute\b|_to_xml|\bts_stat\b|\bts_rewrite\b|dblink|crosstab|connectby|xpath_table|U&"/i;

const RELATION = "pg_class ";

const COLUMNS = `WITH RECURSIVE m AS (SELECT * FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[])) m (s, t, c)),
named AS (SELECT a.attrelid, a.attname FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r','p','f','m','v') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    AND EXISTS (SELECT FROM m WHERE (s IS NULL OR n.nspname ~* s) AND c.relname ~* t AND a.attname ~* c)),
spread (attrelid, attname) AS (SELECT * FROM named UNION
  SELECT CASE WHEN i.inhparent = s.attrelid THEN i.inhrelid ELSE i.inhparent END, s.attname
  FROM spread s JOIN pg_catalog.pg_inherits i ON s.attrelid IN (i.inhparent, i.inhrelid)),
own AS (SELECT a.attrelid, a.attname FROM spread s JOIN pg_catalog.pg_attribute a ON a.attrelid = s.attrelid AND a.attname = s.attname AND a.attnum > 0)
SELECT attrelid::int8::text AS id, attname::text AS name FROM own
UNION SELECT a.attrelid::int8::text, a.attname::text FROM own o JOIN pg_catalog.pg_attribute a ON a.attrelid = o.attrelid AND a.attgenerated <> ''
  JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND pg_catalog.strpos(pg_catalog.pg_get_expr(d.adbin, d.adrelid), pg_catalog.quote_ident(o.attname)) > 0`;

/** What depends on what, for all that a statement can reach a table through; a rule counts as its view. */
const USES = `SELECT DISTINCT CASE WHEN r.oid IS NULL THEN d.classid::regclass::text || ' ' || d.objid ELSE 'pg_class ' || r.ev_class END AS "user",
    d.refclassid::regclass::text || ' ' || d.refobjid AS used
  FROM pg_catalog.pg_depend d LEFT JOIN pg_catalog.pg_rewrite r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND r.oid = d.objid
  WHERE d.refclassid IN ('pg_catalog.pg_class'::regclass, 'pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)
    AND d.classid IN ('pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass, 'pg_catalog.pg_cast'::regclass, 'pg_catalog.pg_constraint'::regclass)
    AND (d.classid <> 'pg_catalog.pg_constraint'::regclass OR EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.oid = d.objid AND k.contypid <> 0))`;

const FUNCTIONS = `SELECT p.oid::int8::text AS id, p.proname::text AS name, l.lanname::text AS language, p.prosrc AS body,
    EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') AS extension
  FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang WHERE p.prokind <> 'a' AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;

const NAMES = `SELECT 'pg_class ' || oid AS id, relname::text AS name FROM pg_catalog.pg_class WHERE 'pg_class ' || oid = ANY ($1::text[])
  UNION ALL SELECT 'pg_class ' || oid, relname::text FROM pg_catalog.pg_class WHERE relname = ANY ($2::name[]) AND relkind IN ('v', 'r')
  UNION ALL SELECT 'pg_proc ' || oid, proname::text FROM pg_catalog.pg_proc WHERE 'pg_proc ' || oid = ANY ($1::text[])
  UNION ALL SELECT 'pg_operator ' || oid, oprname::text FROM pg_catalog.pg_operator WHERE 'pg_operator ' || oid = ANY ($1::text[])
  UNION ALL SELECT 'pg_cast ' || k.oid || ' ' || t.typname, t.typname::text FROM pg_catalog.pg_cast k JOIN pg_catalog.pg_type t ON t.oid IN (k.castsource, k.casttarget) WHERE 'pg_cast ' || k.oid = ANY ($1::text[])
  UNION ALL SELECT 'pg_constraint ' || k.oid || ' ' || t.typname, t.typname::text FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_type t ON t.oid = k.contypid WHERE 'pg_constraint ' || k.oid = ANY ($1::text[])`;

const RESOLVE = `SELECT n.name AS asked, c.oid::int8::text AS id, c.relkind::text AS kind, c.relhasrules AS "hasRules" FROM pg_catalog.unnest($1::text[]) n (name) JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(n.name)`;

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

interface Shape {
  readonly name: string;
  readonly definition: string | null;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly isReadable: boolean }[];
}

/** What a database's masked columns can be reached through. */
interface Reach {
  /** Masked columns by the object id of their relation. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
  /** Object ids of all relations that contain or may read masked values. */
  readonly relations: ReadonlySet<string>;
  /** Those of them that show samples of any column, or statements of other sessions. */
  readonly revealing: ReadonlySet<string>;
  /** Functions and operators that may read them: `pg_proc 16385`. */
  readonly functions: ReadonlySet<string>;
  /** Names of functions, operators and types that can run a function that reads them. */
  readonly calls: ReadonlySet<string>;
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
    const seen = new Set<string>();
    const safe = await rewritten({ session, reach, seen, depth: 0, isWriting: mode === "READ WRITE" }, sql);
    return { sql: safe, notices: seen.size === 0 ? [] : [maskedNotice(seen)] };
  }

  /** Removes from an error of PostgreSQL what may show values of rows that the caller did not write. */
  hideValues(error: unknown): void {
    if (!this.isOn || !(error instanceof Error) || !("severity" in error)) return;
    const { code, where } = treeOf(error);
    if (String(code).startsWith("23")) Object.assign(error, { detail: undefined });
    if (/function|trigger/i.test(String(where ?? "")))
      Object.assign(error, {
        message: "A function or trigger failed. Its message is not shown: it could contain masked values",
        detail: undefined,
        hint: undefined,
      });
  }

  async #reach(session: Rows, mode: string): Promise<Reach> {
    // The same snapshot shows the same catalogs, except for changes of the transaction itself.
    const [now] = await session.rows<{ at: string }>("SELECT pg_catalog.pg_current_snapshot()::text AS at");
    const at = mode === "READ ONLY" ? (now?.at ?? "") : "";
    if (at !== "" && this.#known?.at === at) return this.#known.reach;
    const columns = new Map<string, Set<string>>();
    const patterns = (["schema", "table", "column"] as const).map((part) =>
      this.#masks.map((mask) => mask[part] ?? null),
    );
    for (const { id, name } of await session.rows<{ id: string; name: string }>(COLUMNS, patterns)) {
      const names = columns.get(id) ?? new Set();
      columns.set(id, names.add(name));
    }
    const uses = await session.rows<{ user: string; used: string }>(USES);
    const functions = await session.rows<FunctionBody>(FUNCTIONS);
    const found = new Map<string, string>();
    const add = async (ids: readonly string[], revealing: readonly string[] = []) => {
      for (const one of await session.rows<{ id: string; name: string }>(NAMES, [ids, revealing]))
        found.set(one.id, one.name);
    };
    await add(
      [...columns.keys()].map((id) => RELATION + id),
      REVEALING,
    );
    for (let size = -1; size < found.size; ) {
      size = found.size;
      const users = uses.flatMap(({ user, used }) => (found.has(used) && !found.has(user) ? [user] : []));
      const mentions = mentioning(found.values());
      const readers = functions.flatMap((one) =>
        !found.has(`pg_proc ${one.id}`) && mentions(one) ? [`pg_proc ${one.id}`] : [],
      );
      if (users.length + readers.length > 0) await add([...users, ...readers]);
    }
    const relations = [...found].filter(([id]) => id.startsWith(RELATION));
    const idsOf = (list: typeof relations) => new Set(list.map(([id]) => id.slice(RELATION.length)));
    const others = [...found].filter(([id]) => !id.startsWith(RELATION));
    const reach = {
      columns,
      relations: idsOf(relations),
      revealing: idsOf(relations.filter(([, name]) => REVEALING.includes(name))),
      functions: new Set(others.map(([id]) => id)),
      calls: new Set([...REVEALING_CALLS, ...others.map(([, name]) => name)]),
    };
    this.#known = { at, reach };
    return reach;
  }
}

interface FunctionBody {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly body: string;
  readonly extension: boolean;
}

/** Whether a function can reach one of these names, as far as its body tells. */
function mentioning(names: Iterable<string>) {
  const plain = new Set<string>();
  const others: string[] = [];
  for (const name of [...names, ...REVEALING_CALLS])
    if (/^\w+$/.test(name)) plain.add(name.toLowerCase());
    else others.push(name.toLowerCase());
  return ({ language, body, extension }: FunctionBody): boolean => {
    if (language !== "sql" && language !== "plpgsql") return !(extension && language === "c");
    const text = body.toLowerCase();
    // Quotes in a quoted name are doubled.
    return (
      DYNAMIC.test(body) ||
      text.split(/[^\p{L}\p{N}_$]+/u).some((word) => plain.has(word)) ||
      others.some((name) => text.includes(name) || text.includes(name.replaceAll('"', '""')))
    );
  };
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
  if (depth > MAX_DEPTH) throw refused("The views are nested too deeply to keep masked columns hidden.");
  const tree = treeOf(await parseSql(sql));
  const [kind] = only(treeOf(treeOf(listOf(tree.stmts)[0]).stmt));
  const { named, ctes, isChanging } = inspected(tree, reach, isWriting);
  const names = [...new Set(named.map(({ name }) => name))];
  const rows = names.length === 0 ? [] : await session.rows<Relation & { asked: string }>(RESOLVE, [names]);
  const found = new Map(rows.map((row) => [row.asked, row]));
  const subqueries = new Map<Tree, string>();
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
      if (isChanging && isReading) throw refused(`The change reads ${name}, a view of masked columns.`);
      if (isChanging && masked !== undefined) requireBlind(tree, node, masked, await shapeOf(session, id));
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
    const called = [
      ...calledBy(key, value).map(({ name }) => name),
      ...(key === "A_Expr" ? namesOf(node.name) : []),
      ...(key === "SubLink" ? namesOf(node.operName) : []),
      ...(key === "SortBy" ? namesOf(node.useOp) : []),
      ...(key === "typeName" || key === "TypeName" ? namesOf(node.names).slice(-1) : []),
    ].find((name) => reach.calls.has(name));
    if (called !== undefined)
      throw refused(`${oneLine(called)} is blocked, because a function behind it can read masked columns.`);
  });
  const named = nodes.map((node): Named => {
    const { use = "other", holder } = uses.get(node) ?? {};
    const parts = [node.catalogname, node.schemaname, node.relname].filter((one) => typeof one === "string");
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
  const pairs = [...columns].flatMap(([table, names]) => [...names].map((name) => [table, name] as const));
  const others = [...relations].filter((one) => !columns.has(one));
  const [found] = await session.rows<{ reads: boolean }>(READS_MASKED, [
    id,
    pairs.map(([table]) => table),
    pairs.map(([, name]) => name),
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
  const known = new Set(columns.map((column) => column.name));
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
    if (key === "returningClause" && listOf(options).length > 0) refuse("whole rows, by RETURNING WITH,");
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
async function replaced(sql: string, tree: Tree, subqueries: ReadonlyMap<Tree, string>): Promise<string> {
  const text = Buffer.from(sql);
  const tokens = await tokensOf(sql);
  const expected = new Map<Tree, unknown>();
  let result = "";
  let end = text.length;
  const located = [...subqueries].map(([holder, subquery]) => {
    const node = treeOf(holder.RangeVar);
    return { holder, subquery, node, at: Number(node.location ?? 0) };
  });
  for (const { holder, subquery, node, at } of located.sort((a, b) => b.at - a.at)) {
    const token = tokens.findIndex(({ start }) => start === at);
    const parts = [node.catalogname, node.schemaname, node.relname].filter((one) => typeof one === "string");
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
    JSON.stringify(value, (key, one) => (POSITION.test(key) ? undefined : (nodes?.get(one) ?? one)));
  const now = await parseSql(result).catch(() => undefined);
  if (plain(now) !== plain(tree, expected)) throw unclear();
  return result;
}

async function fromOf(sql: string): Promise<unknown> {
  const [first] = (await parseSql(sql)).stmts ?? [];
  return treeOf(treeOf(first?.stmt).SelectStmt).fromClause;
}

const refused = (message: string, hint = "Read the other columns, or ask the user to change --mask.") =>
  failure("masked", message, { hint });

const unclear = () =>
  refused(
    "This form of naming a table can't be used on one with masked columns.",
    "Write FROM table or FROM schema.table AS name, without TABLESAMPLE.",
  );
