import { ToolError } from "@refmcp/core/answer";
import { isDeniedFunction, isDeniedRelation } from "./denied.ts";
import { parseSql } from "./parser.ts";
import { type Called, calledBy, only, spoken, treeOf, walk } from "./tree.ts";

/** What a statement that passed is. */
export interface Passed {
  readonly kind: "select" | "show" | "explain";
  /** Whether its result can be read in pages: one portal over one SELECT. */
  readonly pageable: boolean;
  /** What `FunctionGate` must look at. */
  readonly calls: readonly Called[];
}

/**
 * Lets one reading statement pass: SELECT, VALUES, TABLE, WITH of such, SHOW, and EXPLAIN of a SELECT. It looks at the
 * syntax tree of PostgreSQL's own grammar, so that comments, quoting, escapes and brackets do not matter: anywhere in the
 * tree no other statement, no INTO, no row lock, no denied function in any notation, no denied catalogue.
 *
 * One layer of several: the extended protocol, the read-only transaction and the role hold without it.
 *
 * @throws ToolError `invalid` where it does not parse, `denied` where it may not run.
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

/** Statements that passed: a text is judged the same way each time. */
const passed = new Map<string, Passed>();
const MAX_CACHED = 200;
const CACHED_LENGTH = 10_000;

async function looked(sql: string): Promise<Passed> {
  const statements = (await parseSql(sql)).stmts ?? [];
  if (statements.length !== 1)
    throw denied(
      `The text has ${statements.length} statements; only one can be run at a time.`,
      "Send them one by one.",
    );
  const [kind, statement] = only(treeOf(statements[0]?.stmt));
  const calls: Called[] = [];
  const look = (key: string, value: unknown) => {
    demandReading(key);
    demandHarmlessCalls(key, value);
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
      if (explained !== "SelectStmt") throw refusedStatement(`EXPLAIN of ${spoken(explained)}`);
      walk(treeOf(statement.query), look);
      return { kind: "explain", pageable: false, calls };
    }
    default:
      throw refusedStatement(spoken(kind));
  }
}

function demandReading(key: string): void {
  if (key.endsWith("Stmt") && key !== "SelectStmt") throw refusedStatement(spoken(key));
  if (key === "intoClause")
    throw denied(
      "SELECT INTO creates a table.",
      "Leave INTO out; pg_execute creates tables if the server was started with --allow-write.",
    );
  if (key === "lockingClause")
    throw denied("FOR UPDATE and FOR SHARE lock rows.", "Leave the locking clause out.");
}

/** @throws ToolError `denied` where a node calls a denied function or names a denied catalogue. */
export function demandHarmlessCalls(key: string, value: unknown, allowed: ReadonlySet<string> = NONE): void {
  for (const { name } of calledBy(key, value)) {
    if (isDeniedFunction(name) && !allowed.has(name.toLowerCase()))
      throw denied(
        `The function ${name} is blocked: its effects go beyond table rows and can't be rolled back.`,
        "Ask for the rows with a plain SELECT, or ask the user to run this in psql.",
      );
  }
  const { relname } = treeOf(value);
  if (key === "RangeVar" && typeof relname === "string" && isDeniedRelation(relname))
    throw denied(
      `${relname} is blocked: it contains secrets or the server's own files.`,
      "pg_roles, pg_stats and pg_settings have what is not secret.",
    );
}

const NONE: ReadonlySet<string> = new Set();

function refusedStatement(what: string): ToolError {
  return denied(
    `${what} is not a reading statement; SELECT, VALUES, TABLE, WITH, SHOW and EXPLAIN of a SELECT are.`,
    "Changes go through pg_execute, where the server was started with --allow-write.",
  );
}

export function denied(message: string, hint: string): ToolError {
  return new ToolError("denied", message, { hint, code: "not_reading" });
}
