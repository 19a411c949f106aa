import type { OptionTable } from "@refmcp/core/internal/define/options";
import { optionEntries, type ServerOptions } from "../option-table.ts";
import { tokensOf } from "../parse-options.ts";

/** The commands for people and scripts, which run instead of serving a host. */
export const COMMANDS = ["call", "read", "tools", "completion"] as const;
export type Command = (typeof COMMANDS)[number];

/** A command line with a command: `~/work --read-only call git_log --max_count 5`. */
export interface ShellWords {
  /** The server's own options, before the command. */
  readonly options: readonly string[];
  readonly command: Command;
  /** The words after the command. */
  readonly rest: readonly string[];
}

/**
 * Finds the command in the arguments of a process: the first word that is a command's name and not the value of an
 * option. A directory with such a name is written `./call`.
 */
export function shellWords(
  { server, table }: ServerOptions<OptionTable>,
  argv: readonly string[],
): ShellWords | undefined {
  if (!argv.some(isCommand)) return undefined;
  for (const token of tokensOf(optionEntries(server, table), argv)) {
    if (token.kind === "option-terminator") return undefined;
    if (token.kind !== "positional" || !isCommand(token.value)) continue;
    return {
      options: argv.slice(0, token.index),
      command: token.value,
      rest: argv.slice(token.index + 1),
    };
  }
  return undefined;
}

function isCommand(word: string): word is Command {
  return (COMMANDS as readonly string[]).includes(word);
}
