import { ToolError } from "@refmcp/boundary/answer";
import { offered } from "@refmcp/sql/file-tools";
import { type FileTool, readToolsFile, type ToolsFileRules } from "@refmcp/sql/tools-file";
import type { Databases } from "../connection/databases.ts";
import { passReading, passWriting } from "../gate/gate.ts";
import { arranged, placesOf } from "../gate/places.ts";
import { query } from "../reading/query.ts";
import { runChanges } from "../writing/write.ts";

interface Given {
  readonly toolsFile: string | undefined;
  readonly dbPath: string | undefined;
  readonly db: readonly { readonly name: string }[];
  readonly allowWrite: boolean;
  readonly allowDdl: boolean;
}

/**
 * The tools of `--tools-file`. Their statements pass the gates here, so that mistakes are found at start, and again with each
 * call.
 *
 * @throws ToolError for the first mistake in the file
 */
export async function ownTools(given: Given, taken: ToolsFileRules["taken"]) {
  const { toolsFile, dbPath, db, allowWrite, allowDdl } = given;
  if (toolsFile === undefined) return [];
  const sources = [...(dbPath === undefined ? [] : ["main"]), ...db.map(({ name }) => name)];
  const kind = "sqlite-sql";
  const tools = await readToolsFile(toolsFile, {
    taken,
    sources,
    kind,
    check: async (tool) => {
      if (!isReading(tool)) {
        if (!allowWrite)
          throw new ToolError(
            "denied",
            "the statement is not read-only, and the server was not started with --allow-write.",
          );
        passWriting(tool.statement, allowDdl);
      }
      arranged(tool.statement, paramsFor(tool, tool.names));
    },
  });
  return offered<Databases>(tools, {
    reads: isReading,
    read: (databases, { tool, values, cursor }, { signal, budget }) =>
      query(databases, {
        sql: tool.statement,
        params: paramsFor(tool, values),
        database: tool.source,
        maxRows: tool.maxRows,
        cursor,
        format: "rows",
        budget,
        signal,
      }),
    write: (databases, { tool, values }, call) => {
      const statements = [{ sql: tool.statement, params: paramsFor(tool, values) }];
      return runChanges(databases, { statements, database: tool.source, dryRun: false }, call);
    },
  });
}

function isReading({ statement }: FileTool): boolean {
  try {
    passReading(statement);
    return true;
  } catch {
    return false;
  }
}

/** SQLite has no arrays; statements read them from JSON with json_each. */
function paramsFor({ statement, names }: FileTool, given: readonly unknown[]): unknown[] {
  const values = given.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value));
  const isNamed = placesOf(statement).named.some((name) => !/^\d+$/.test(name));
  return isNamed ? [Object.fromEntries(names.map((name, at) => [name, values[at]]))] : values;
}
