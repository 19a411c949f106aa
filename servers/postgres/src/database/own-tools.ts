import { ToolError } from "@refmcp/boundary/answer";
import { toolsFrom } from "@refmcp/sql/tools-file";
import { placesOf } from "./advice/explain.ts";
import type { Postgres } from "./connection/postgres.ts";
import { passReading } from "./gate/read-gate.ts";
import { passWriting } from "./gate/write-gate.ts";
import { readPage } from "./reading/reading.ts";
import { runChanges } from "./writing/writing.ts";

interface Given {
  readonly toolsFile: string | undefined;
  readonly db: readonly { readonly name: string }[];
  readonly allowWrite: boolean;
  readonly allowAdmin: boolean;
}

/** The tools of `--tools-file`. @throws ToolError for the first mistake in the file */
export const ownTools = (
  { toolsFile, db, allowWrite, allowAdmin }: Given,
  taken: Parameters<typeof toolsFrom>[1],
) =>
  toolsFrom<Postgres>(toolsFile, taken, {
    sources: ["main", ...db.map(({ name }) => name)],
    allowWrite,
    passReading,
    passWriting: (sql) => passWriting(sql, allowAdmin),
    needsWrite: (refused) =>
      refused instanceof ToolError && refused.kind === "denied"
        ? new ToolError(
            "denied",
            `${refused.message} The server was not started with --allow-write.`,
          )
        : refused,
    async checkParams({ statement, names }) {
      const places = await placesOf(statement);
      if (places === names.length) return;
      const problem = `the statement takes ${places} values, but there are ${names.length} parameters.`;
      throw new ToolError("invalid", problem);
    },
    query: readPage,
    runChanges,
  });
