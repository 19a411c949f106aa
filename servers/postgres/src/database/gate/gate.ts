import { ToolError } from "@refmcp/boundary/answer";
import { isDeniedFunction, isDeniedRelation } from "./denied.ts";
import { parseSql } from "./parser.ts";
import { type Called, calledBy, commandName, only, treeOf, walk } from "./tree.ts";

/** An accepted statement. */
export interface Passed {
  readonly kind: "select" | "show" | "explain";
  /** Whether its result can be paged: one portal over one SELECT. */
  readonly pageable: boolean;
  /** Functions for `FunctionGate` to check. */
  readonly calls: readonly Called[];
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
  const known = passed.get(sql);
  if (known !== undefined) return known;
  const now = await looked(sql);
  if (sql.length <= CACHED_LENGTH) {
    const [oldest] = passed.keys();
    if (oldest !== undefined && passed.size >= MAX_CACHED) passed.delete(oldest);
    passed.set(sql, now);
  }
  return now;
}

/** Accepted statements: the verdict depends only on the text. */
const passed = new Map<string, Passed>();
const MAX_CACHED = 200;
const CACHED_LENGTH = 10_000;

async function looked(sql: string): Promise<Passed> {
  const statements = (await parseSql(sql)).stmts ?? [];
  if (statements.length !== 1)
    throw denied(
      `The text has ${statements.length} statements; only one can be run at a time.`,
      "Send them one at a time.",
    );
  const [kind, statement] = only(treeOf(statements[0]?.stmt));
  const calls: Called[] = [];
  const look = (key: string, value: unknown) => {
    requireReading(key);
    requireHarmlessCalls(key, value);
    calls.push(...calledBy(key, value));
  };
  switch (kind) {
    case "SelectStmt":
      walk({ SelectStmt: statement }, look);
      return { kind: "select", pageable: true, calls };
    case "VariableShowStmt":
      return { kind: "show", pageable: false, calls };
    case "ExplainStmt": {
      const [explained] = only(treeOf(statement.query));
      if (explained !== "SelectStmt") throw refusedStatement(`EXPLAIN of ${commandName(explained)}`);
      walk(treeOf(statement.query), look);
      return { kind: "explain", pageable: false, calls };
    }
    default:
      throw refusedStatement(commandName(kind));
  }
}

function requireReading(key: string): void {
  if (key.endsWith("Stmt") && key !== "SelectStmt") throw refusedStatement(commandName(key));
  if (key === "intoClause")
    throw denied(
      "SELECT INTO creates a table.",
      "Remove INTO. pg_execute creates tables if the server was started with --allow-write.",
    );
  if (key === "lockingClause")
    throw denied("FOR UPDATE and FOR SHARE lock rows.", "Remove the locking clause.");
}

/** @throws ToolError `denied` if a node calls a denied function or names a denied catalog. */
export function requireHarmlessCalls(key: string, value: unknown, allowed: ReadonlySet<string> = NONE): void {
  for (const { name } of calledBy(key, value)) {
    if (isDeniedFunction(name) && !allowed.has(name.toLowerCase()))
      throw denied(
        `The function ${name} is blocked: its effects go beyond table rows and can't be rolled back.`,
        "Get the rows with a plain SELECT, or ask the user to run this in psql.",
      );
  }
  const { relname } = treeOf(value);
  if (key === "RangeVar" && typeof relname === "string" && isDeniedRelation(relname))
    throw denied(
      `${relname} is blocked: it contains secrets or the server's own files.`,
      "pg_roles, pg_stats and pg_settings show the non-secret part.",
    );
}

const NONE: ReadonlySet<string> = new Set();

function refusedStatement(what: string): ToolError {
  return denied(
    `${what} is not a read-only statement; use SELECT, VALUES, TABLE, WITH, SHOW or EXPLAIN of a SELECT.`,
    "To change data use pg_execute, which needs --allow-write.",
  );
}

export function denied(message: string, hint: string): ToolError {
  return new ToolError("denied", message, { hint, code: "not_reading" });
}
