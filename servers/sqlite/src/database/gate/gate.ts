import { nearest, oneLine, ToolError } from "@refmcp/boundary/answer";
import { unquoted } from "@refmcp/sql/names";
import { type Statement, statementOf } from "./tokens.ts";

const READING: ReadonlySet<string> = new Set(["SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA"]);

/** PRAGMAs that report something, and change no setting unless they get a value. */
const REPORTING: ReadonlySet<string> = new Set(
  [
    "application_id auto_vacuum busy_timeout cache_size collation_list compile_options data_version database_list",
    "encoding foreign_key_check foreign_key_list foreign_keys freelist_count function_list index_info index_list",
    "index_xinfo integrity_check journal_mode journal_size_limit locking_mode max_page_count mmap_size module_list",
    "page_count page_size pragma_list query_only quick_check recursive_triggers schema_version secure_delete",
    "synchronous table_info table_list table_xinfo temp_store trusted_schema user_version wal_autocheckpoint",
  ].flatMap((line) => line.split(" ")),
);

/** PRAGMAs whose argument names an object, not a value to set. */
const WITH_ARGUMENT =
  /^(foreign_key_check|foreign_key_list|index_info|index_list|index_xinfo|integrity_check|quick_check|table_info|table_list|table_xinfo)$/;

/**
 * Accepts a single reading statement, by its text alone. The process that runs it also checks it with SQLite.
 *
 * @throws ToolError `invalid` unless there is exactly one statement, `denied` if it does not read
 */
export function passReading(sql: string): Statement {
  const statement = single(sql);
  if (!READING.has(statement.first))
    throw refused(
      statement,
      "read_query accepts SELECT, WITH, VALUES, EXPLAIN and PRAGMA.",
      "Use execute for changes, if the server was started with --allow-write.",
    );
  // SQLite sets some PRAGMAs when they are prepared, also after EXPLAIN.
  const at = statement.tokens.findIndex(({ text }) => !/^(explain|query|plan)$/i.test(text));
  if (/^pragma$/i.test(statement.tokens[at]?.text ?? "")) passPragma(statement.tokens.slice(at));
  return statement;
}

function passPragma(tokens: Statement["tokens"]): void {
  const words = tokens.map(({ text }) => unquoted(text.toLowerCase()));
  const at = words[2] === "." ? 3 : 1;
  const name = words[at] ?? "";
  const rest = words.slice(at + 1).filter((word) => word !== ";");
  if (REPORTING.has(name) && (rest.length === 0 || (rest[0] === "(" && WITH_ARGUMENT.test(name))))
    return;
  const pragma = oneLine(name.slice(0, 60));
  throw new ToolError("denied", `PRAGMA ${pragma} is not allowed in this form.`, {
    hint: `Allowed without a value, or with the name of a table or index: ${[...REPORTING].join(", ")}.`,
  });
}

const CHANGING: ReadonlySet<string> = new Set(["INSERT", "REPLACE", "UPDATE", "DELETE"]);
const DEFINING: ReadonlySet<string> = new Set(["CREATE", "ALTER", "DROP", "REINDEX", "ANALYZE"]);

/** Accepts a single changing statement. @throws ToolError as `passReading`; DDL needs `allowDdl` */
export function passWriting(sql: string, allowDdl: boolean): Statement {
  const statement = single(sql);
  if (CHANGING.has(statement.verb)) return statement;
  if (!DEFINING.has(statement.verb))
    throw refused(
      statement,
      "execute accepts INSERT, REPLACE, UPDATE, DELETE and, with --allow-ddl, CREATE, ALTER, DROP.",
      statement.first === "SELECT"
        ? "Use read_query."
        : "The tools begin and end transactions themselves.",
    );
  if (allowDdl) return statement;
  throw new ToolError(
    "denied",
    `${statement.verb} changes the schema, which is not allowed on this server.`,
    { hint: "Ask the user to start it with --allow-ddl." },
  );
}

function single(sql: string): Statement {
  if (sql.includes("\0"))
    throw new ToolError("invalid", "The statement contains a NUL character.", {
      hint: "Pass it as a parameter.",
    });
  const statement = statementOf(sql);
  if (statement.count === 1) return statement;
  const hint =
    statement.count === 0
      ? "Pass one SQL statement."
      : "Make one call for each, or pass several changes as a list to execute.";
  const message = `The text has ${statement.count} statements; exactly one is expected.`;
  throw new ToolError("invalid", message, { hint });
}

/** The keywords that start a SQLite statement. */
const KEYWORDS =
  "ALTER ANALYZE ATTACH BEGIN COMMIT CREATE DELETE DETACH DROP END EXPLAIN INSERT PRAGMA REINDEX RELEASE REPLACE ROLLBACK SAVEPOINT SELECT UPDATE VACUUM VALUES WITH".split(
    " ",
  );

/** How other databases show their schema. */
const FOREIGN = /^(SHOW|DESC|DESCRIBE|USE)$/;

function refused({ first, tokens }: Statement, allowed: string, hint: string): ToolError {
  if (first !== "" && !KEYWORDS.includes(first)) {
    const [near] = nearest(first, KEYWORDS);
    const question = near === undefined ? "" : ` Did you mean ${near}?`;
    const word = JSON.stringify(oneLine(first.slice(0, 40)));
    return new ToolError("invalid", `${word} does not start an SQL statement.${question}`, {
      hint: FOREIGN.test(first) ? "Call describe_tables for tables with their columns." : allowed,
    });
  }
  const begin = first === "" ? (tokens[0]?.text.slice(0, 20) ?? "") : first;
  const verb = JSON.stringify(oneLine(begin));
  return new ToolError(
    "denied",
    `A statement that starts with ${verb} is not allowed here. ${allowed}`,
    { hint },
  );
}
