import { ToolError } from "@refmcp/boundary/answer";
import { DirectoryAllowlist } from "@refmcp/boundary/directories";
import { Runtime } from "../bind/runtime.ts";
import type { CommonOptionValues } from "../define/common-options.ts";
import type { OptionTable, OptionValues } from "../define/options.ts";
import type { Servable, ServerDefinition } from "../define/server.ts";
import type { Tool } from "../define/tool.ts";
import type { Log } from "../log.ts";
import { type OptionsRead, unknownNames } from "./parse-options.ts";

/** What a server starts with, in addition to its definition. */
export interface Start<Table extends OptionTable> {
  readonly options: OptionValues<Table> & CommonOptionValues;
  readonly sources: OptionsRead<OptionTable>["sources"];
  /** What the server gets as the environment. Default: the process's. */
  readonly env?: NodeJS.ProcessEnv;
  readonly log: Log;
  /** See `Runtime`. */
  readonly stateKey: Uint8Array | undefined;
  /** Whether it runs one command for a person or a script, in their working directory. */
  readonly inShell: boolean;
}

/**
 * Creates a running server. Opens nothing.
 *
 * @returns a message for the user if the options don't fit the server.
 */
export async function runtimeOf<Context, Table extends OptionTable>(
  definition: Servable<Context, Table>,
  { options, sources, env, log, stateKey, inShell }: Start<Table>,
): Promise<Runtime<Context, Table> | string> {
  let moreTools: readonly Tool<Context>[] = [];
  try {
    const { option, load } = definition.moreTools ?? {};
    if (option !== undefined && options[option] !== undefined)
      moreTools = (await load?.(options)) ?? [];
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return [error.message, ...(error.hint === undefined ? [] : [error.hint])].join("\n");
  }
  const known = [...definition.tools, ...moreTools].flatMap(({ name, aliases = [] }) => [
    name,
    ...aliases,
  ]);
  const mistake =
    unknownNames("--tools", "tool", options.tools, known, "the command tools") ??
    unknownNames("--exclude-tools", "tool", options.excludeTools, known, "the command tools");
  if (mistake !== undefined) return mistake;
  const declared = definition.directories;
  const allowed = allowlistOf(
    inShell && declared !== undefined ? { ...declared, fallback: "working directory" } : declared,
    options,
    sources,
  );
  return new Runtime(definition, { options, allowed, env, log, stateKey, moreTools });
}

function allowlistOf(
  declared: ServerDefinition<never>["directories"],
  options: CommonOptionValues & Readonly<Record<string, unknown>>,
  sources: OptionsRead<OptionTable>["sources"],
): DirectoryAllowlist {
  const configured = (key: string, writable: boolean) => {
    const paths = options[key];
    if (!Array.isArray(paths)) return [];
    const from = sources[key] === "environment" ? ("environment" as const) : ("argument" as const);
    return paths.map((path) => ({ path: String(path), source: from, writable }));
  };
  return new DirectoryAllowlist({
    configured: [
      ...configured("directories", true),
      ...(declared?.readOnly === undefined ? [] : configured(declared.readOnly, false)),
    ],
    mode: options.clientRoots,
    ...(declared?.fallback === undefined ? {} : { fallback: process.cwd() }),
  });
}
