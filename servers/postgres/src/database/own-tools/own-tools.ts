import { ToolError } from "@refmcp/boundary/answer";
import { offered } from "@refmcp/sql/file-tools";
import { type FileTool, readToolsFile, type ToolsFileRules } from "@refmcp/sql/tools-file";
import { placesOf } from "../advice/explain.ts";
import type { Postgres } from "../connection/postgres.ts";
import { passReading } from "../gate/read-gate.ts";
import { passWriting } from "../gate/write-gate.ts";
import { readPage } from "../reading/page.ts";
import { runChanges } from "../writing/writing.ts";

interface Given {
  readonly toolsFile: string | undefined;
  readonly db: readonly { readonly name: string }[];
  readonly allowWrite: boolean;
  readonly allowAdmin: boolean;
}

/**
 * The tools of `--tools-file`. Their statements are checked here, so that mistakes are found at start, and again with each
 * call.
 *
 * @throws ToolError for the first mistake in the file
 */
export async function ownTools(
  { toolsFile, db, allowWrite, allowAdmin }: Given,
  taken: ToolsFileRules["taken"],
) {
  if (toolsFile === undefined) return [];
  const reads = new Set<FileTool>();
  const tools = await readToolsFile(toolsFile, {
    taken,
    sources: ["main", ...db.map(({ name }) => name)],
    kind: "postgres-sql",
    async check(tool) {
      const { statement, names } = tool;
      const refused = await passReading(statement).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refused === undefined) reads.add(tool);
      else if (allowWrite) await passWriting(statement, allowAdmin);
      else if (refused instanceof ToolError && refused.kind === "denied")
        throw new ToolError("denied", `${refused.message} The server was not started with --allow-write.`);
      else throw refused;
      const places = await placesOf(statement);
      if (places !== names.length)
        throw new ToolError(
          "invalid",
          `the statement takes ${places} values, but there are ${names.length} parameters.`,
        );
    },
  });
  return offered<Postgres>(tools, {
    reads: (tool) => reads.has(tool),
    read: (postgres, { tool, values, cursor }, { signal, budget }) =>
      readPage(postgres, {
        sql: tool.statement,
        params: values,
        database: tool.source,
        maxRows: tool.maxRows,
        cursor,
        format: "rows",
        budget,
        signal,
      }),
    write: (postgres, { tool, values }, call) => {
      const statements = [{ sql: tool.statement, params: values }];
      return runChanges(postgres, { statements, database: tool.source, dryRun: false }, call);
    },
  });
}
