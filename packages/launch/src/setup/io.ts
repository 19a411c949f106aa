import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import path from "node:path";
import { stateDirectories } from "@refmcp/boundary";
import type { HostName } from "@refmcp/core/internal/define/common-options";
import { SetupProblem } from "./formats/text-format.ts";

/** The machine, the terminal and the servers that `setup` and `doctor` work with. */
export interface SetupIo {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: { write(text: string): unknown };
  readonly errors: { write(text: string): unknown };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** The version of Node.js, as `20.19.0`. */
  readonly nodeVersion: string;
  /** The bin of `refmcp`. */
  readonly bin: string;
  /**
   * A host's complete file with one server, as `--print-config HOST` of that server prints it.
   *
   * @param server `refmcp` or a single server's name
   * @throws {SetupProblem} if the server does not accept these words.
   */
  entryText(server: string, host: HostName, words: readonly string[]): Promise<string>;
  /** Where the record for `--undo` is kept, in order of preference. */
  readonly stateDirectories: readonly string[];
  /** How long a server may take to list its tools, in milliseconds; npx may have to download it first. */
  readonly startMs: number;
}

/** This process's machine and terminal, except for what is given. */
export function processIo(given: Partial<SetupIo> = {}): SetupIo {
  const bin = realpathSync(process.argv[1] ?? "");
  const cwd = given.cwd ?? process.cwd();
  return {
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    env: process.env,
    cwd,
    home: homedir(),
    platform: process.platform,
    nodeVersion: process.versions.node,
    bin,
    // The server itself checks its options, makes paths absolute, and keeps secrets out of the entry.
    entryText: (server, host, words) =>
      printedEntry(binOf(given.bin ?? bin, server), host, words, cwd),
    stateDirectories: stateDirectories("setup"),
    startMs: 120_000,
    ...given,
  };
}

/** The bin of a single server, which is installed with `refmcp`. */
function binOf(bin: string, server: string): string {
  if (server === "refmcp") return bin;
  try {
    const from = createRequire(bin);
    return path.join(
      path.dirname(from.resolve(`@refmcp/server-${server}/package.json`)),
      "dist",
      "bin.js",
    );
  } catch {
    throw new SetupProblem(`The server "${server}" is not installed.`);
  }
}

function printedEntry(
  bin: string,
  host: HostName,
  words: readonly string[],
  cwd: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const args = [bin, ...words, "--print-config", host];
    execFile(
      process.execPath,
      args,
      { cwd, encoding: "utf8", windowsHide: true },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new SetupProblem(stderr.trim() || error.message));
      },
    );
  });
}
