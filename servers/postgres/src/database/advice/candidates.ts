import {
  listOf,
  namesOf,
  only,
  parseSql,
  quotedName,
  relationName,
  type Tree,
  treeOf,
  walk,
} from "../gate/syntax.ts";

/** An index to try. */
export interface Candidate {
  /** Quoted by PostgreSQL. */
  readonly table: string;
  readonly isPartitioned: boolean;
  readonly method: "btree" | "gin" | "gist";
  /** Columns and expressions as CREATE INDEX has them. */
  readonly keys: readonly string[];
  /** The condition of a partial index. */
  readonly where: string | undefined;
}

/** What a statement does with a column or an expression. */
interface Key {
  /** As an index key: a column, or an expression in parentheses. */
  readonly text: string;
  readonly columns: readonly string[];
  readonly use: "equal" | "range" | "order" | "prefix" | "pattern" | "contains" | "json";
}

interface Condition {
  readonly text: string;
  readonly columns: readonly string[];
  /** Whether it compares with a constant, which may be one of many. */
  readonly isComparison?: boolean;
}

/** The parts of a statement that an index can serve. */
export interface Served {
  /** Quoted names of the relations. */
  readonly relations: readonly string[];
  readonly keys: readonly Key[];
  /** The columns of ORDER BY, with their directions. */
  readonly order: { readonly keys: readonly string[]; readonly columns: readonly string[] };
  /** Conditions with constants that every row must meet. */
  readonly conditions: readonly Condition[];
}

/** Keys to try for one table of a statement, alone and in pairs. */
const MAX_KEYS = 12;
const OPERATORS: readonly (readonly [use: Key["use"], operators: string])[] = [
  ["equal", "="],
  ["range", "< > <= >="],
  ["pattern", "~ ~*"],
  ["json", "@> @? @@"],
  ["contains", "? ?| ?& && <@"],
];

/** Finds what an index could serve in a statement, by PostgreSQL's own grammar. */
export async function servedBy(sql: string): Promise<Served> {
  const relations = new Set<string>();
  const keys = new Map<string, Key>();
  const order: Served["order"][] = [];
  const conditions: Condition[] = [];
  const add = (node: unknown, use: Key["use"]) => {
    const found = expressionOf(node);
    if (found !== undefined && found.columns.length > 0)
      keys.set(`${use} ${found.text}`, { ...found, use });
  };
  walk(treeOf(await parseSql(sql)), (key, value) => {
    const relation = key === "RangeVar" ? relationName(value) : undefined;
    if (relation !== undefined) relations.add(relation);
    if (key === "groupClause") for (const node of listOf(value)) add(node, "order");
    if (key === "sortClause") {
      const parts = listOf(value).map((node) => {
        const { node: by, sortby_dir } = treeOf(treeOf(node).SortBy);
        add(by, "order");
        const found = expressionOf(by);
        return found && { ...found, isDown: sortby_dir === "SORTBY_DESC" };
      });
      const known = parts.flatMap((part) => part ?? []);
      const sorting = {
        keys: known.map(({ text, isDown }) =>
          isDown !== known[0]?.isDown ? `${text} DESC` : text,
        ),
        columns: known.flatMap(({ columns }) => columns),
      };
      if (known.length > 0 && known.length === parts.length) order.push(sorting);
    }
    if (key !== "whereClause" && key !== "quals") return;
    for (const part of conjunctsOf(value)) {
      const condition = conditionOf(part);
      if (condition !== undefined) conditions.push(condition);
    }
    walk({ value }, (inner, node) => {
      if (inner === "A_Expr") for (const [side, use] of comparedIn(treeOf(node))) add(side, use);
    });
  });
  const longest = order.sort((a, b) => b.keys.length - a.keys.length)[0] ?? {
    keys: [],
    columns: [],
  };
  return { relations: [...relations], keys: [...keys.values()], order: longest, conditions };
}

function* comparedIn({
  kind,
  name,
  lexpr,
  rexpr,
}: Tree): Generator<[side: unknown, use: Key["use"]]> {
  const operator = namesOf(name).at(-1) ?? "";
  if (kind === "AEXPR_LIKE" || kind === "AEXPR_ILIKE") {
    if (operator.startsWith("!")) return;
    yield [lexpr, "pattern"];
    const text = treeOf(treeOf(treeOf(rexpr).A_Const).sval).sval;
    const mayBePrefix =
      typeof text === "string" ? !/^[%_]/.test(text) : "ParamRef" in treeOf(rexpr);
    if (kind === "AEXPR_LIKE" && mayBePrefix) yield [lexpr, "prefix"];
  } else if (kind === "AEXPR_BETWEEN") yield [lexpr, "range"];
  else if (kind === "AEXPR_IN" || kind === "AEXPR_OP_ANY") {
    if (operator === "=") yield [lexpr, "equal"];
  } else {
    const use = OPERATORS.find(([, operators]) => operators.split(" ").includes(operator))?.[0];
    if (use === undefined) return;
    yield [lexpr, use];
    if (use === "equal" || use === "range") yield [rexpr, use];
  }
}

function conjunctsOf(value: unknown): Tree[] {
  const { boolop, args } = treeOf(treeOf(value).BoolExpr);
  return boolop === "AND_EXPR" ? listOf(args).flatMap(conjunctsOf) : [treeOf(value)];
}

/** A condition that a partial index may have: a comparison with a constant, a test for NULL, or a boolean column. */
function conditionOf(node: Tree): Condition | undefined {
  const [kind, content] = only(node);
  if (kind === "ColumnRef") return expressionOf(node);
  if (kind === "BoolExpr") {
    const inner = content.boolop === "NOT_EXPR" ? expressionOf(listOf(content.args)[0]) : undefined;
    return inner && { ...inner, text: `NOT ${inner.text}` };
  }
  if (kind === "NullTest") {
    const inner = expressionOf(content.arg);
    const test = content.nulltesttype === "IS_NULL" ? "IS NULL" : "IS NOT NULL";
    return inner && { ...inner, text: `${inner.text} ${test}` };
  }
  const operator = namesOf(content.name)[0] ?? "";
  if (kind !== "A_Expr" || content.kind !== "AEXPR_OP" || !/^(=|<>)$/.test(operator))
    return undefined;
  const [left, right] = [expressionOf(content.lexpr), expressionOf(content.rexpr)];
  if (
    left === undefined ||
    right === undefined ||
    left.columns.length === 0 ||
    right.columns.length > 0
  )
    return undefined;
  return {
    text: `${left.text} ${operator} ${right.text}`,
    columns: left.columns,
    isComparison: true,
  };
}

/** The text of an expression without parameters, in parentheses unless it is a column or a constant. */
function expressionOf(node: unknown): { text: string; columns: string[] } | undefined {
  const [kind, content] = only(treeOf(node));
  const join = (nodes: readonly unknown[], write: (texts: string[]) => string) => {
    const parts = nodes.map(expressionOf);
    const known = parts.flatMap((part) => part ?? []);
    if (known.length < parts.length) return undefined;
    return {
      text: `(${write(known.map(({ text }) => text))})`,
      columns: known.flatMap(({ columns }) => columns),
    };
  };
  switch (kind) {
    case "ColumnRef": {
      const name = namesOf(content.fields).at(-1);
      return name === undefined ? undefined : { text: quotedName([name]), columns: [name] };
    }
    case "A_Const": {
      const { ival, fval, sval, boolval, isnull } = content;
      if (isnull === true) return undefined;
      const number = fval === undefined ? (treeOf(ival).ival ?? 0) : treeOf(fval).fval;
      const text =
        sval !== undefined
          ? `'${String(treeOf(sval).sval ?? "").replaceAll("'", "''")}'`
          : boolval !== undefined
            ? String(treeOf(boolval).boolval ?? false)
            : String(number);
      return { text, columns: [] };
    }
    case "TypeCast": {
      const { names, typmods, arrayBounds } = treeOf(content.typeName);
      if (listOf(typmods).length > 0) return undefined;
      const type = `${quotedName(namesOf(names))}${listOf(arrayBounds).length > 0 ? "[]" : ""}`;
      return join([content.arg], ([inner = ""]) => `${inner}::${type}`);
    }
    case "FuncCall":
      if (
        content.over !== undefined ||
        content.agg_star === true ||
        listOf(content.args).length === 0
      )
        return undefined;
      return join(
        listOf(content.args),
        (args) => `${quotedName(namesOf(content.funcname))}(${args.join(", ")})`,
      );
    case "CoalesceExpr":
      return join(listOf(content.args), (args) => `COALESCE(${args.join(", ")})`);
    case "A_Expr":
      if (content.kind !== "AEXPR_OP" || content.lexpr === undefined) return undefined;
      return join(
        [content.lexpr, content.rexpr],
        ([left, right]) => `${left} ${namesOf(content.name).at(-1)} ${right}`,
      );
    default:
      return undefined;
  }
}

/** A table of the statement. */
export interface Indexable {
  readonly table: string;
  readonly isPartitioned: boolean;
  /** The columns; in `wide` those whose values are too long for a B-tree. */
  readonly columns: readonly string[];
  readonly wide: readonly string[];
  /** Columns with few different values. */
  readonly few: readonly string[];
}

/** Indexes that could serve the statement: single keys, pairs, keys before the sort order, partial ones, GIN and GiST. */
export function candidatesFor(
  served: Served,
  on: Indexable,
  trigram: string | undefined,
): Candidate[] {
  const has = ({ columns }: { readonly columns: readonly string[] }) =>
    columns.every((one) => on.columns.includes(one));
  const { table, isPartitioned } = on;
  const made: Candidate[] = [];
  const add = (method: Candidate["method"], keys: readonly string[], where?: string) =>
    made.push({ table, isPartitioned, method, keys: [...new Set(keys)], where });
  const btree = (keys: readonly string[], where?: string) => add("btree", keys, where);
  const keys = served.keys.filter(has);
  const sortable = keys.filter(
    ({ use, text, columns }) =>
      /^(equal|range|order)$/.test(use) &&
      !(text === quotedName(columns) && on.wide.includes(columns[0] ?? "")),
  );
  const texts = [...new Set(sortable.map(({ text }) => text))].slice(0, MAX_KEYS);
  for (const text of texts) btree([text]);
  for (const first of texts)
    for (const second of texts) if (first !== second) btree([first, second]);
  const order = has(served.order) ? served.order.keys : [];
  const equal = sortable.flatMap(({ use, text }) => (use === "equal" ? [text] : []));
  if (order.length > 0)
    for (const lead of [[], ...equal.map((one) => [one]), equal.slice(0, 3)])
      btree([...lead, ...order]);
  const range = sortable.find(({ use }) => use === "range")?.text;
  if (equal.length > 1) btree([...equal.slice(0, 3), ...(range === undefined ? [] : [range])]);
  const isWorthIt = ({ columns, isComparison = false }: Condition) =>
    !isComparison || columns.every((one) => on.few.includes(one));
  for (const condition of served.conditions.filter(has).filter(isWorthIt)) {
    const others = sortable.filter(
      ({ columns }) => !columns.some((one) => condition.columns.includes(one)),
    );
    for (const { text } of others) btree([text], condition.text);
    if (order.length > 0) btree(order, condition.text);
    if (others.length === 0 && order.length === 0)
      btree([quotedName(condition.columns.slice(0, 1))], condition.text);
  }
  for (const { use, text } of keys) {
    if (use === "prefix") btree([`${text} text_pattern_ops`]);
    if (use === "pattern" && trigram !== undefined) add("gin", [`${text} ${trigram}`]);
    if (use === "json") add("gin", [`${text} jsonb_path_ops`]);
    if (use === "json" || use === "contains") {
      add("gin", [text]);
      add("gist", [text]);
    }
  }
  return made;
}

/** The statement that creates it. */
export function creating({ table, method, keys, where }: Candidate): string {
  return `CREATE INDEX ON ${table} USING ${method} (${keys.join(", ")})${where === undefined ? "" : ` WHERE ${where}`}`;
}
