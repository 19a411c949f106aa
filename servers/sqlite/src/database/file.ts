import { existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";

/** Two numbers in the header of a database file that only grow, and when the file was created, in nanoseconds. */
interface FileVersion {
  readonly commits: number;
  readonly schemas: number;
  readonly created?: string | undefined;
}

/** Open files by their identity, for `versionOf`. */
const headers = new Map<string, number>();

/** What the record of changes knows a database by, however it is named. A new file with an old name is another database. */
export function identityOf(file: string): string {
  if (!existsSync(file)) return file;
  return `${realpathSync.native(file)} ${statSync(file, { bigint: true }).ino}`;
}

/**
 * The counters in the header of a database file: of commits, unless it is in WAL mode, and of schema changes (SQLite, "Database
 * File Format", 1.3). And when it was created, since a new file may have an old inode, unless the file system shows the time of
 * a change instead.
 */
export function versionOf(path: string): FileVersion | undefined {
  if (!existsSync(path)) return undefined;
  const identity = identityOf(path);
  // Not closed: that would end the locks that other code of this process has on the file.
  const file = headers.get(identity) ?? openSync(path, "r");
  headers.set(identity, file);
  const header = Buffer.alloc(44);
  if (readSync(file, header, 0, 44, 0) < 44) return undefined;
  const isWal = header[18] === 2;
  const { birthtimeNs, ctimeNs, mtimeNs } = statSync(path, { bigint: true });
  const isKnown = birthtimeNs !== ctimeNs && birthtimeNs !== mtimeNs;
  return {
    commits: isWal ? 0 : header.readUInt32BE(24),
    schemas: header.readUInt32BE(40),
    ...(isKnown && { created: String(birthtimeNs) }),
  };
}

/** Whether a file, unlike when a change was recorded, has the content of another or an older database. */
export function isAnother(then: FileVersion | undefined, path: string): boolean {
  const now = versionOf(path);
  if (then === undefined || now === undefined) return false;
  // The change itself was one more.
  const isOlder = then.commits > 0 && now.commits > 0 && now.commits <= then.commits;
  const isNew =
    then.created !== undefined && now.created !== undefined && now.created !== then.created;
  return isOlder || isNew || now.schemas < then.schemas;
}
