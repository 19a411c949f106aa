import { setFlagsFromString } from "node:v8";
import { ToolError } from "@refmcp/core/answer";
import type { ParseResult } from "libpg-query";

/** A statement's text is at most this many characters: what a person or a model writes is far shorter. */
const LONGEST = 1_000_000;

let loading: ReturnType<typeof loaded> | undefined;

/** PostgreSQL's own parser (libpg_query compiled to WebAssembly), loaded on first use. */
async function parser() {
  loading ??= loaded();
  return loading;
}

async function loaded() {
  // V8 would optimize the parser in the background and keep 20 MB of code for it; it is as fast without.
  for (const flag of ["--no-wasm-tier-up", "--no-wasm-dynamic-tiering"]) setFlagsFromString(flag);
  const library = await import("libpg-query");
  await library.loadModule();
  return library;
}

/**
 * The syntax tree of a text of SQL by PostgreSQL's own grammar.
 *
 * @throws ToolError `invalid` for what is empty, holds a NUL or a broken character, or does not parse, with position.
 */
export async function parseSql(sql: string): Promise<ParseResult> {
  if (sql.length > LONGEST)
    throw new ToolError("too_large", `The statement has ${sql.length} characters; the limit is ${LONGEST}.`, {
      hint: "Pass values as params, or load them with pg_import_csv.",
    });
  // C strings end at a NUL: the parser would see less than the server, and the protocol would lose its step.
  if (sql.includes("\0") || !sql.isWellFormed())
    throw new ToolError(
      "invalid",
      "The statement contains a NUL character or an unpaired surrogate, which SQL text can't.",
      {
        hint: "Remove it; bytes are written as '\\x00'::bytea.",
      },
    );
  const { parseSync } = await parser();
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
  return new ToolError("invalid", "The text has no statement, only white space or comments.", {
    hint: "Pass one SELECT.",
  });
}

function syntaxError(error: unknown, sql: string): ToolError {
  // The tree of a chain of many thousand operators is too deep to be written out: not parsed means not run.
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

/** The text around a place, in characters from 0, with a mark before it. */
export function excerpt(sql: string, at: number): string {
  const points = [...sql];
  const from = Math.max(0, at - 30);
  const before = points.slice(from, at).join("");
  const after = points.slice(at, at + 30).join("");
  const shown = `${from > 0 ? "…" : ""}${before}»${after}${at + 30 < points.length ? "…" : ""}`;
  return JSON.stringify(shown.replace(/\s+/g, " "));
}
