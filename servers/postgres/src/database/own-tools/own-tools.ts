import { JsonText, ToolError } from "@refmcp/core/answer";
import { changeOutput, queryOutput } from "@refmcp/sql";
import { type FileTool, readToolsFile } from "@refmcp/sql/tools-file";
import { placesOf } from "../advice/explain.ts";
import type { Postgres } from "../connection/postgres.ts";
import { passReading } from "../gate/gate.ts";
import { passWriting } from "../gate/write-gate.ts";
import { readPage } from "../reading/page.ts";
import { runChanges } from "../writing/run.ts";

interface Given {
  readonly toolsFile: string | undefined;
  readonly db: readonly { readonly name: string }[];
  readonly allowWrite: boolean;
  readonly allowAdmin: boolean;
}

/** As much of a call as tools of a file need. */
interface Calling {
  readonly signal: AbortSignal;
  readonly budget: number;
  confirm(loss: string): Promise<void>;
}

/**
 * The tools of `--tools-file`. Their statements go through the gates twice: here, so that a mistake is found at start, and
 * with each call.
 *
 * @throws ToolError for the first mistake in the file
 */
export async function ownTools({ toolsFile, db, allowWrite, allowAdmin }: Given, taken: readonly string[]) {
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
          `the statement takes ${places} values, and there are ${names.length} parameters.`,
        );
    },
  });
  return tools.map((tool) => {
    const { name, title, description, input } = tool;
    const facts = { name, title, description, openWorld: false, input };
    return reads.has(tool)
      ? { ...facts, effect: "read" as const, output: queryOutput, run: reading(tool) }
      : {
          ...facts,
          effect: "destroy" as const,
          needs: "allowWrite",
          output: changeOutput,
          run: writing(tool),
        };
  });
}

type Input = Readonly<Record<string, unknown>>;

const reading =
  (tool: FileTool) =>
  async (input: Input, postgres: Postgres, { signal, budget }: Calling) =>
    new JsonText(
      await readPage(postgres, {
        sql: tool.statement,
        params: tool.values(input),
        database: tool.source,
        maxRows: tool.maxRows,
        cursor: typeof input.cursor === "string" ? input.cursor : undefined,
        format: "rows",
        budget,
        signal,
      }),
    );

const writing = (tool: FileTool) => (input: Input, postgres: Postgres, call: Calling) =>
  runChanges(postgres, {
    statements: [{ sql: tool.statement, params: tool.values(input) }],
    database: tool.source,
    dryRun: false,
    budget: call.budget,
    signal: call.signal,
    confirm: (loss) => call.confirm(loss),
  });
