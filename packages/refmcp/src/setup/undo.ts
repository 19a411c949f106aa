import { existsSync, readdirSync, readFileSync, rmdirSync, unlinkSync } from "node:fs";
import path from "node:path";
import { createPathGuard, DirectoryAllowlist, openStateDirectory } from "@refmcp/boundary";
import type { HostName } from "../hosts/host-names.ts";
import {
  bytesOf,
  type ConfigFile,
  fingerprint,
  readConfigFile,
  writeConfigFile,
} from "./config-file.ts";
import { FORMATS } from "./edit.ts";
import { SetupProblem } from "./formats/text-format.ts";
import type { SetupIo } from "./io.ts";
import { type Change, type PlannedFile, revert } from "./plan.ts";

/** What `setup` changed in one file. */
interface UndoRecord {
  readonly host: HostName;
  /** As the user knows it, and with links resolved. */
  readonly file: string;
  readonly path: string;
  readonly format: keyof typeof FORMATS;
  /** The bytes before, in base64; null if there was no file. */
  readonly before: string | null;
  /** The fingerprint of the bytes after. */
  readonly after: string;
  readonly changes: readonly Change[];
  readonly createdDirectories: readonly string[];
}

/** The undoing of one file. */
export interface PlannedUndo {
  readonly record: UndoRecord;
  readonly file: ConfigFile;
  /** Undefined if the file is removed. */
  readonly after: Buffer | undefined;
}

/** Remembers what `setup` changes, in a private directory of the user. */
export class UndoStore {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws {SetupProblem} if no directory can be used. */
  static async open(
    { stateDirectories }: Pick<SetupIo, "stateDirectories">,
    create: boolean,
  ): Promise<UndoStore> {
    const nothing = new DirectoryAllowlist({ configured: [], mode: "off" });
    const found = await openStateDirectory(stateDirectories, nothing, { name: "undo", create });
    if ("reason" in found)
      throw new SetupProblem(`The record for --undo cannot be kept: ${found.reason}.`);
    return new UndoStore(found.directory);
  }

  /** All records, sorted by file. */
  records(): UndoRecord[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory)
      .filter((name) => name.endsWith(".json"))
      .map((name): UndoRecord => JSON.parse(readFileSync(path.join(this.#directory, name), "utf8")))
      .toSorted((a, b) => (a.file < b.file ? -1 : 1));
  }

  /** Called before the file is written, so that a crash in between loses nothing. */
  async remember(
    planned: PlannedFile,
    after: Uint8Array,
    createdDirectories: readonly string[],
  ): Promise<void> {
    const { host, place, file } = planned;
    const earlier = this.records().find((record) => record.path === file.path);
    const { before, changes } = withEarlier(earlier, planned);
    await this.#write({
      host: host.id,
      file: place.file,
      path: file.path,
      format: host.format,
      before: before?.toString("base64") ?? null,
      after: fingerprint(after),
      changes,
      createdDirectories: earlier?.createdDirectories ?? createdDirectories,
    });
  }

  async #write(record: UndoRecord): Promise<void> {
    const allowed = new DirectoryAllowlist({
      configured: [{ path: this.#directory, source: "argument" }],
      mode: "off",
    });
    await createPathGuard(allowed).writeFile(
      this.#fileOf(record),
      Buffer.from(JSON.stringify(record)),
    );
  }

  #fileOf({ path: file }: Pick<UndoRecord, "path">): string {
    return path.join(this.#directory, `${fingerprint(Buffer.from(file))}.json`);
  }

  forget(record: Pick<UndoRecord, "path">): void {
    if (existsSync(this.#fileOf(record))) unlinkSync(this.#fileOf(record));
  }
}

/** The state before the first run of `setup`, with what other programs changed between two runs. */
function withEarlier(
  earlier: UndoRecord | undefined,
  { file, changes, host }: PlannedFile,
): { before: Buffer | undefined; changes: readonly Change[] } {
  if (earlier === undefined || file.bytes === undefined) return { before: file.bytes, changes };
  // Later changes of the same value are part of the first one.
  const paths = new Set(earlier.changes.map((change) => JSON.stringify(change.path)));
  const all = [
    ...earlier.changes,
    ...changes.filter((change) => !paths.has(JSON.stringify(change.path))),
  ];
  if (fingerprint(file.bytes) === earlier.after) {
    return {
      before: earlier.before === null ? undefined : Buffer.from(earlier.before, "base64"),
      changes: all,
    };
  }
  return {
    before: bytesOf(revert(FORMATS[host.format], file.text, earlier.changes), file),
    changes: all,
  };
}

/**
 * Computes a file as it was before `setup`: exactly, or, if another program has changed it since, without the changes of
 * `setup`. Undefined if nothing is left to undo.
 */
export function planUndo(record: UndoRecord): PlannedUndo | undefined {
  const file = readConfigFile(record.file);
  if (file.bytes === undefined) return undefined;
  const before = record.before === null ? undefined : Buffer.from(record.before, "base64");
  const now = fingerprint(file.bytes);
  if (now === fingerprint(before)) return undefined;
  if (now === record.after) return { record, file, after: before };
  const text = revert(FORMATS[record.format], file.text, record.changes);
  return text === file.text ? undefined : { record, file, after: bytesOf(text, file) };
}

/** Writes or removes the file. */
export async function undo({ record, file, after }: PlannedUndo): Promise<void> {
  if (after !== undefined) return writeConfigFile(file, after);
  if (fingerprint(readConfigFile(file.path).bytes) !== fingerprint(file.bytes))
    throw new SetupProblem(
      "was changed by another program at the same time. Run the command again.",
    );
  unlinkSync(file.path);
  for (const directory of record.createdDirectories.toReversed()) {
    if (existsSync(directory) && readdirSync(directory).length === 0) rmdirSync(directory);
  }
}
