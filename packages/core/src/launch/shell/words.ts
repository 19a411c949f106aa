import type { OptionTable } from "../../define/options.ts";
import { optionEntries, type ServerOptions } from "../option-table.ts";
import { tokensOf } from "../parse-options.ts";

/** What a server does for people and scripts instead of serving a host. */
export const COMMANDS = ["call", "read", "tools", "completion"] as const;
export type Command = (typeof COMMANDS)[number];

/** A command line that ends in a command: `~/work --read-only call git_log --max_count 5`. */
export interface ShellWords {
  /** The server's own options, before the command. */
  readonly options: readonly string[];
  readonly command: Command;
  /** What follows it. */
  readonly rest: readonly string[];
}

/**
 * Finds the command among the arguments of a process: the first word that is one and is not the value of an option. A
 * directory of that name is written `./call`.
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
