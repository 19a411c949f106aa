import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { createPathGuard, DirectoryAllowlist, ensureDirectory } from "@refmcp/boundary";
import { SetupProblem } from "./formats/text-format.ts";

/** Larger than any host's file; Claude Code's has several megabytes after some months. */
const MAX_BYTES = 50_000_000;
const BOM = "\uFEFF";

/** The current content of a host's configuration file. */
export interface ConfigFile {
  /** With links resolved, so that a linked file stays a link. */
  readonly path: string;
  /** Undefined if there is no file. */
  readonly bytes: Buffer | undefined;
  /** Without a byte order mark. */
  readonly text: string;
  readonly hasBom: boolean;
}

/**
 * Reads a file that may be missing.
 *
 * @throws {SetupProblem} if it is not a readable text file.
 */
export function readConfigFile(path: string): ConfigFile {
  try {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined)
      return { path: realPathOfMissing(path), bytes: undefined, text: "", hasBom: false };
    if (entry.isSymbolicLink() && !existsSync(path))
      throw new SetupProblem("is a symlink to a file that does not exist.");
    const real = realpathSync(path);
    requireFile(statSync(real));
    const bytes = readFileSync(real);
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const hasBom = text.startsWith(BOM);
    return { path: real, bytes, text: hasBom ? text.slice(1) : text, hasBom };
  } catch (error) {
    if (error instanceof TypeError) throw new SetupProblem("is not UTF-8 text.");
    throw error instanceof SetupProblem
      ? error
      : new SetupProblem(`cannot be read: ${causeOf(error)}`);
  }
}

function requireFile(stat: Stats): void {
  if (stat.isDirectory()) throw new SetupProblem("is a directory.");
  if (!stat.isFile()) throw new SetupProblem("is not a regular file.");
  if (stat.size > MAX_BYTES)
    throw new SetupProblem(`has ${stat.size} bytes, more than ${MAX_BYTES}.`);
}

/** The place of a file that does not exist yet, in the existing part of its path with links resolved. */
function realPathOfMissing(path: string): string {
  const missing: string[] = [];
  let existing = path;
  while (!existsSync(existing) && dirname(existing) !== existing) {
    missing.unshift(existing.slice(dirname(existing).length));
    existing = dirname(existing);
  }
  if (!statSync(existing).isDirectory())
    throw new SetupProblem(`cannot be created: ${existing} is not a directory.`);
  return [realpathSync(existing).replace(/[\\/]$/, ""), ...missing].join("");
}

/** The bytes of a changed text, with the byte order mark that the file had. */
export function bytesOf(text: string, { hasBom }: Pick<ConfigFile, "hasBom">): Buffer {
  return Buffer.from(hasBom ? BOM + text : text);
}

/** Identifies the content of a file; a missing file has its own value. */
export function fingerprint(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "none" : createHash("sha256").update(bytes).digest("hex");
}

/** The directories that have to be created for a file, outermost first. */
export function missingDirectories(path: string): string[] {
  const missing: string[] = [];
  for (let directory = dirname(path); !existsSync(directory); directory = dirname(directory))
    missing.unshift(directory);
  return missing;
}

/** The file is no longer the one that the user saw. */
export class ChangedMeanwhile extends SetupProblem {}

/**
 * Replaces the file atomically, keeping its permissions.
 *
 * @throws {ChangedMeanwhile} if another program has changed it since it was read.
 * @throws {SetupProblem} if it cannot be written.
 */
export async function writeConfigFile(file: ConfigFile, content: Uint8Array): Promise<void> {
  try {
    if (file.bytes !== undefined && (statSync(file.path).mode & 0o222) === 0)
      throw new SetupProblem("is read-only. Make it writable first.");
    const directory = dirname(file.path);
    ensureDirectory(directory);
    const allowed = new DirectoryAllowlist({
      configured: [{ path: directory, source: "argument" }],
      mode: "off",
    });
    await createPathGuard(allowed).writeFile(file.path, content, {
      async check(existing) {
        const now = await existing?.handle.readFile();
        if (fingerprint(now) !== fingerprint(file.bytes))
          throw new ChangedMeanwhile(
            "was changed by another program at the same time. Run the command again.",
          );
      },
    });
  } catch (error) {
    throw error instanceof SetupProblem
      ? error
      : new SetupProblem(`cannot be written: ${causeOf(error)}`);
  }
}

/** The cause of a failure as a sentence, without the path, which the user sees already. */
export function causeOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const text = /^E[A-Z]+: [^,]+/.exec(message)?.[0] ?? message;
  return text.endsWith(".") ? text : `${text}.`;
}
