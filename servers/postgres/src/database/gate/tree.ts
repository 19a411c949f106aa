import { quoteIdentifier } from "@refmcp/sql/names";

/** A node of PostgreSQL's syntax tree as libpg_query writes it in JSON: `{ "SelectStmt": { … } }`. */
export type Tree = Readonly<Record<string, unknown>>;

const NOTHING: Tree = {};

export function treeOf(value: unknown): Tree {
  return isTree(value) ? value : NOTHING;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null;
}

/** The only key of a tagged node and its value. */
export function only(node: Tree): [kind: string, content: Tree] {
  const [key = "", value] = Object.entries(node)[0] ?? [];
  return [key, treeOf(value)];
}

/** Calls `visit` for every key and value of a tree, without recursion, since statements may be deeply nested. */
export function walk(root: Tree, visit: (key: string, value: unknown) => void): void {
  const waiting: Tree[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    for (const [key, value] of Object.entries(node)) {
      visit(key, value);
      for (const child of Array.isArray(value) ? value : [value]) if (isTree(child)) waiting.push(child);
    }
  }
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The identifiers in a list of nodes, decoded. */
export function namesOf(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item) => {
    const text = treeOf(treeOf(item).String).sval;
    return typeof text === "string" ? [text] : [];
  });
}

/** A function that a statement may call, by its bare, decoded name. */
export interface Called {
  readonly name: string;
  /** Whether it is in attribute notation, `(x).f` or `t.f`, which usually names a column. */
  readonly isAttribute: boolean;
}

/** The functions that a node calls. */
export function calledBy(key: string, value: unknown): Called[] {
  const tree = treeOf(value);
  const attributes = (names: string[]) => names.map((name) => ({ name, isAttribute: true }));
  if (key === "FuncCall")
    return namesOf(tree.funcname)
      .slice(-1)
      .map((name) => ({ name, isAttribute: false }));
  if (key === "A_Indirection") return attributes(namesOf(tree.indirection));
  if (key === "ColumnRef") return attributes(namesOf(tree.fields).slice(1));
  return [];
}

/** `InsertStmt` → `INSERT`, `CreateTableAsStmt` → `CREATE TABLE AS`. */
export function commandName(kind: string): string {
  return kind
    .replace(/Stmt$/, "")
    .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toUpperCase();
}

/** The quoted name of a relation; undefined if the node is not one. */
export function relationName(value: unknown): string | undefined {
  const { schemaname, relname } = treeOf(value);
  if (typeof relname !== "string") return undefined;
  return (typeof schemaname === "string" ? [schemaname, relname] : [relname]).map(quoteIdentifier).join(".");
}
