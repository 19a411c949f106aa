import { ToolError } from "@refmcp/boundary/answer";
import { type ToolsFileRules, toolsFrom } from "@refmcp/sql/tools-file";
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

/** The tools of `--tools-file`. @throws ToolError for the first mistake in the file */
export async function ownTools(
  { toolsFile, db, allowWrite, allowAdmin }: Given,
  taken: ToolsFileRules<Postgres>["taken"],
) {
  if (toolsFile === undefined) return [];
  return await toolsFrom<Postgres>(toolsFile, {
    taken,
    sources: ["main", ...db.map(({ name }) => name)],
    kind: "postgres-sql",
    async check({ statement, names }) {
      const refused = await passReading(statement).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refused !== undefined) {
        if (allowWrite) await passWriting(statement, allowAdmin);
        else if (refused instanceof ToolError && refused.kind === "denied")
          throw new ToolError("denied", `${refused.message} The server was not started with --allow-write.`);
        else throw refused;
      }
      const places = await placesOf(statement);
      if (places !== names.length)
        throw new ToolError(
          "invalid",
          `the statement takes ${places} values, but there are ${names.length} parameters.`,
        );
      return refused === undefined;
    },
    query: readPage,
    runChanges,
  });
}
