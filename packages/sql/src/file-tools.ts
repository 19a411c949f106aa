import { JsonText } from "@refmcp/boundary/answer";
import type * as z from "zod";
import { queryOutput } from "./answer.ts";
import { changeOutput } from "./changes.ts";
import type { FileTool } from "./tools-file.ts";

/** What a tool from a file needs of its call. */
export interface FileCall {
  readonly signal: AbortSignal;
  readonly budget: number;
  confirm(loss: string): Promise<void>;
}

/** A call of a tool from a file. */
export interface FileStatement {
  readonly tool: FileTool;
  /** In the order of the tool's parameters. */
  readonly values: unknown[];
}

/** How a server runs the statements of tools from a file. */
export interface FileRunner<Context> {
  reads(tool: FileTool): boolean;
  /** The JSON text of `queryOutput`. */
  read(
    context: Context,
    statement: FileStatement & { readonly cursor: string | undefined },
    call: FileCall,
  ): Promise<string>;
  write(context: Context, statement: FileStatement, call: FileCall): Promise<z.output<typeof changeOutput>>;
}

type Input = Readonly<Record<string, unknown>>;

/** The definitions of tools from a file. */
export function offered<Context>(tools: readonly FileTool[], { reads, read, write }: FileRunner<Context>) {
  return tools.map((tool) => {
    const { name, title, description, input } = tool;
    const facts = { name, title, description, openWorld: false, input };
    if (reads(tool))
      return {
        ...facts,
        effect: "read" as const,
        output: queryOutput,
        run: async (given: Input, context: Context, call: FileCall) => {
          const cursor = typeof given.cursor === "string" ? given.cursor : undefined;
          return new JsonText(await read(context, { tool, values: tool.values(given), cursor }, call));
        },
      };
    return {
      ...facts,
      effect: "destroy" as const,
      needs: "allowWrite",
      output: changeOutput,
      run: (given: Input, context: Context, call: FileCall) =>
        write(context, { tool, values: tool.values(given) }, call),
    };
  });
}
