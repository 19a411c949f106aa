import { ToolError } from "@refmcp/boundary/answer";
import { type FileTool, toolsFrom } from "@refmcp/sql/tools-file";
import type { Databases } from "./connection/databases.ts";
import { passReading, passWriting } from "./gate/gate.ts";
import { arranged, placesOf } from "./gate/params.ts";
import { query } from "./reading/query.ts";
import { runChanges } from "./writing/write.ts";

interface Given {
  readonly toolsFile: string | undefined;
  readonly dbPath: string | undefined;
  readonly db: readonly { readonly name: string }[];
  readonly allowWrite: boolean;
  readonly allowDdl: boolean;
}

/** The tools of `--tools-file`. @throws ToolError for the first mistake in the file */
export const ownTools = (
  { toolsFile, dbPath, db, allowWrite, allowDdl }: Given,
  taken: Parameters<typeof toolsFrom>[1],
) =>
  toolsFrom<Databases>(toolsFile, taken, {
    sources: [...(dbPath === undefined ? [] : ["main"]), ...db.map(({ name }) => name)],
    allowWrite,
    passReading,
    passWriting: (sql) => passWriting(sql, allowDdl),
    needsWrite: () =>
      new ToolError(
        "denied",
        "the statement is not read-only, and the server was not started with --allow-write.",
      ),
    checkParams: (tool) => arranged(tool.statement, paramsFor(tool, tool.names)),
    params: paramsFor,
    query,
    runChanges,
  });

/** SQLite has no arrays; statements read them from JSON with json_each. */
function paramsFor({ statement, names }: FileTool, given: readonly unknown[]): unknown[] {
  const values = given.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value));
  const isNamed = placesOf(statement).named.some((name) => !/^\d+$/.test(name));
  return isNamed ? [Object.fromEntries(names.map((name, at) => [name, values[at]]))] : values;
}
