import { access } from "node:fs/promises";
import { nearest } from "@refmcp/boundary/answer";
import type { OptionTable } from "../define/options.ts";
import type { ServerOptions } from "./options.ts";
import { COMMANDS, positionalWords } from "./parse-options.ts";

/** What people type for a command or an option of another name. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  help: "--help",
  version: "--version",
  list: "tools",
  "list-tools": "tools",
  run: "call",
  exec: "call",
  config: "--print-config",
  "print-config": "--print-config",
};

/**
 * The word of a command line that is meant as a command and would be taken for a directory, with what does the same.
 *
 * @param isFile whether there is a file or directory of this name. Default: asks the disk
 */
export async function nearCommand(
  all: ServerOptions<OptionTable>,
  argv: readonly string[],
  isFile: (word: string) => Promise<boolean> = exists,
): Promise<{ readonly word: string; readonly meant: string } | undefined> {
  for (const word of positionalWords(all, argv)) {
    // A path with a separator is a path.
    if (!/^[a-z-]+$/.test(word)) continue;
    const meant = Object.hasOwn(OTHER_NAMES, word)
      ? OTHER_NAMES[word]
      : nearest(word, COMMANDS, 1)[0];
    if (meant !== undefined && !(await isFile(word))) return { word, meant };
  }
  return undefined;
}

/** Whether there is a file or directory of this name. */
export function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
