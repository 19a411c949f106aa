import { setFlagsFromString } from "node:v8";
import { ToolError } from "@refmcp/boundary/answer";
import { excerpt } from "@refmcp/sql";
import { quoteIdentifier } from "@refmcp/sql/names";
import type { ParseResult, ScanResult } from "libpg-query";

/** Maximum characters of a statement; people and models write far less. */
const MAX_CHARS = 1_000_000;

let loading: ReturnType<typeof loaded> | undefined;

/** PostgreSQL's own parser (libpg_query compiled to WebAssembly), loaded on first use. */
async function loaded() {
  // Otherwise V8 optimizes the parser in the background and keeps 20 MB of code, with no gain in speed.
  for (const flag of ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);
  const library = await import("libpg-query");
  await library.loadModule();
  return library;
}

/**
 * Parses SQL with PostgreSQL's own grammar.
 *
 * @throws ToolError `invalid` with the position if it does not parse, is empty, or contains a NUL or an unpaired surrogate.
 */
export async function parseSql(sql: string): Promise<ParseResult> {
  if (sql.length > MAX_CHARS)
    throw new ToolError(
      "too_large",
      `The statement has ${sql.length} characters; the limit is ${MAX_CHARS}.`,
      { hint: "Pass values as params, or load them with pg_import_csv." },
    );
  // C strings end at a NUL: the parser would see less than the server does, and the protocol would get out of step.
  if (sql.includes("\0") || !sql.isWellFormed())
    throw new ToolError(
      "invalid",
      "The statement contains a NUL character or an unpaired surrogate, which SQL text can't contain.",
      { hint: "Remove it; bytes are written as '\\x00'::bytea." },
    );
  loading ??= loaded();
  const { parseSync } = await loading;
  let tree: ParseResult | undefined;
  try {
    // The parser refuses an empty text.
    if (sql.trim() !== "") tree = parseSync(sql);
  } catch (error) {
    throw syntaxError(error, sql);
  }
  if (tree?.stmts !== undefined && tree.stmts.length > 0) return tree;
  throw new ToolError("invalid", "There is no statement, only whitespace or comments.", {
    hint: "Pass one SELECT.",
  });
}

export type Token = ScanResult["tokens"][number];

/** The tokens of SQL or PL/pgSQL without comments; undefined if PostgreSQL's scanner does not accept it. */
export async function tokensOf(text: string): Promise<Token[] | undefined> {
  loading ??= loaded();
  const { scanSync } = await loading;
  try {
    return scanSync(text).tokens.filter(({ tokenName }) => !tokenName.endsWith("_COMMENT"));
  } catch {
    return undefined;
  }
}

function syntaxError(error: unknown, sql: string): ToolError {
  // A chain of many thousands of operators is too deep to serialize. What can't be parsed is not run.
  if (error instanceof RangeError)
    return new ToolError(
      "too_large",
      "The statement is nested too deeply to be checked, so it is not run.",
      { hint: "Use = ANY($1) with an array in params instead of a long chain of conditions." },
    );
  const message = error instanceof Error ? error.message : String(error);
  const details: unknown =
    error instanceof Error && "sqlDetails" in error ? error.sqlDetails : undefined;
  const at = Number(treeOf(details).cursorPosition);
  const where = Number.isInteger(at) && at >= 0 ? `, position ${at + 1}: ${excerpt(sql, at)}` : "";
  return new ToolError("invalid", `${message} (SQLSTATE 42601${where})`, {
    code: "42601",
    hint: "The error is at » or right before it; nothing was sent to the server.",
  });
}

/** A node of PostgreSQL's syntax tree as libpg_query writes it in JSON: `{ "SelectStmt": { … } }`. */
export type Tree = Readonly<Record<string, unknown>>;

export const treeOf = (value: unknown): Tree => (isTree(value) ? value : {});

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null;

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
      for (const child of Array.isArray(value) ? value : [value])
        if (isTree(child)) waiting.push(child);
    }
  }
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The identifiers in a list of nodes, decoded. */
export const namesOf = (list: unknown): string[] =>
  listOf(list).flatMap((item) => {
    const text = treeOf(treeOf(item).String).sval;
    return typeof text === "string" ? [text] : [];
  });

/** `InsertStmt` → `INSERT`, `CreateTableAsStmt` → `CREATE TABLE AS`. */
export const commandName = (kind: string): string =>
  kind
    .replace(/Stmt$/, "")
    .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toUpperCase();

/** A name that may have several parts, quoted. */
export const quotedName = (parts: readonly string[]) => parts.map(quoteIdentifier).join(".");

/** The quoted name of a relation; undefined if the node is not one. */
export function relationName(value: unknown): string | undefined {
  const { schemaname, relname } = treeOf(value);
  if (typeof relname !== "string") return undefined;
  return quotedName(typeof schemaname === "string" ? [schemaname, relname] : [relname]);
}
