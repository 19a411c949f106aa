import { setFlagsFromString } from "node:v8";
import { ToolError } from "@refmcp/boundary/answer";
import type { ParseResult } from "libpg-query";

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
      {
        hint: "Pass values as params, or load them with pg_import_csv.",
      },
    );
  // C strings end at a NUL: the parser would see less than the server does, and the protocol would get out of step.
  if (sql.includes("\0") || !sql.isWellFormed())
    throw new ToolError(
      "invalid",
      "The statement contains a NUL character or an unpaired surrogate, which SQL text can't contain.",
      {
        hint: "Remove it; bytes are written as '\\x00'::bytea.",
      },
    );
  loading ??= loaded();
  const { parseSync } = await loading;
  if (sql.trim() === "") throw empty();
  try {
    const tree = parseSync(sql);
    if ((tree.stmts ?? []).length === 0) throw empty();
    return tree;
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw syntaxError(error, sql);
  }
}

function empty(): ToolError {
  return new ToolError("invalid", "There is no statement, only whitespace or comments.", {
    hint: "Pass one SELECT.",
  });
}

function syntaxError(error: unknown, sql: string): ToolError {
  // A chain of many thousands of operators is too deep to serialize. What can't be parsed is not run.
  if (error instanceof RangeError)
    return new ToolError("too_large", "The statement is nested too deeply to be checked, so it is not run.", {
      hint: "Use = ANY($1) with an array in params instead of a long chain of conditions.",
    });
  const message = error instanceof Error ? error.message : String(error);
  const details: unknown = error instanceof Error && "sqlDetails" in error ? error.sqlDetails : undefined;
  const at = Number(Reflect.get(Object(details), "cursorPosition"));
  const where = Number.isInteger(at) && at >= 0 ? `, position ${at + 1}: ${excerpt(sql, at)}` : "";
  return new ToolError("invalid", `${message} (SQLSTATE 42601${where})`, {
    code: "42601",
    hint: "Correct the statement there; it was not sent to the server.",
  });
}

/** The text around a position, counted in characters from 0, with a mark before it. */
export function excerpt(sql: string, at: number): string {
  const points = [...sql];
  const from = Math.max(0, at - 30);
  const before = points.slice(from, at).join("");
  const after = points.slice(at, at + 30).join("");
  const shown = `${from > 0 ? "…" : ""}${before}»${after}${at + 30 < points.length ? "…" : ""}`;
  return JSON.stringify(shown.replace(/\s+/g, " "));
}
