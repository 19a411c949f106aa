import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { stateDirectories } from "@refmcp/boundary";
import { SERVER_NAMES } from "../catalog.ts";
import type { HostName } from "../hosts/host-names.ts";
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
   * A host's complete file with one server, as `refmcp SERVER --print-config HOST` prints it.
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
      printedEntry(given.bin ?? bin, server, [...words, "--print-config", host], cwd),
    stateDirectories: stateDirectories("setup"),
    startMs: 120_000,
    ...given,
  };
}

function printedEntry(
  bin: string,
  server: string,
  words: readonly string[],
  cwd: string,
): Promise<string> {
  const isSingle = server !== "refmcp";
  if (isSingle && !SERVER_NAMES.some((name) => name === server))
    throw new SetupProblem(`The server "${server}" is not installed.`);
  return new Promise((resolve, reject) => {
    const args = [bin, ...(isSingle ? [server] : []), ...words];
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
