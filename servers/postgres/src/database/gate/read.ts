import { denied } from "../driver/errors.ts";
import { harmlessMentions, IMPLIED, type Mention } from "./functions.ts";
import { commandName, only, parseSql, treeOf, walk } from "./syntax.ts";

interface Passed {
  readonly kind: "select" | "show" | "explain";
  /** What it may reach, for the `FunctionGate`. */
  readonly mentions: readonly Mention[];
}

/**
 * Accepts one reading statement: SELECT, VALUES, TABLE, WITH of these, SHOW, or EXPLAIN of a SELECT. It checks the syntax
 * tree of PostgreSQL's own grammar, so comments, quoting, escapes and parentheses make no difference. Nowhere in the tree
 * may there be another statement, INTO, a row lock, a denied function in any notation, or a denied catalog.
 *
 * One of several layers: the extended protocol, the read-only transaction and the role work without it.
 *
 * @throws ToolError `invalid` if it does not parse, `denied` if it must not run.
 */
export async function passReading(sql: string): Promise<Passed> {
  const statements = (await parseSql(sql)).stmts ?? [];
  if (statements.length !== 1)
    throw denied(
      `The text has ${statements.length} statements; only one can be run at a time.`,
      "Send them one at a time.",
    );
  const root = treeOf(statements[0]?.stmt);
  const [kind, statement] = only(root);
  if (kind === "VariableShowStmt") return { kind: "show", mentions: [] };
  const isExplain = kind === "ExplainStmt";
  const query = isExplain ? treeOf(statement.query) : root;
  const [queryKind] = only(query);
  if (queryKind !== "SelectStmt")
    throw refused(`${isExplain ? "EXPLAIN of " : ""}${commandName(queryKind)}`);
  const mentions = new Set<Mention>();
  walk(query, (key, value) => {
    if (key.endsWith("Stmt") && key !== "SelectStmt") throw refused(commandName(key));
    if (key === "intoClause")
      throw denied(
        "SELECT INTO creates a table.",
        "Remove INTO. pg_execute creates tables if the server was started with --allow-write.",
      );
    if (key === "lockingClause")
      throw denied("FOR UPDATE and FOR SHARE lock rows.", "Remove the locking clause.");
    for (const mention of harmlessMentions(key, value)) mentions.add(mention);
  });
  if (mentions.size > 0) for (const mention of IMPLIED) mentions.add(mention);
  return { kind: isExplain ? "explain" : "select", mentions: [...mentions] };
}

const refused = (what: string) =>
  denied(
    `${what} is not a read-only statement; use SELECT, VALUES, TABLE, WITH, SHOW or EXPLAIN of a SELECT.`,
    "To change data use pg_execute, which needs --allow-write.",
  );
