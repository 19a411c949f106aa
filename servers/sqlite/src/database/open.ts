import type { PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { type Databases, withNear } from "@refmcp/sql";
import { SqliteDatabase } from "./database.ts";
import { Pool } from "./driver/pool.ts";
import { kind } from "./kind.ts";

interface Opening extends Pick<Databases, "guard" | "changes"> {
  /** Databases that the user named; `--db-path` is `main`. */
  readonly files: readonly { readonly name: string; readonly value: string }[];
  readonly allowDdl: boolean;
  readonly maxMemoryMb: number;
  readonly queryTimeoutMs: number;
}

/** The databases that may be used, and the processes that run their statements. */
export function openDatabases({
  files,
  guard,
  changes,
  ...options
}: Opening): Databases<SqliteDatabase> {
  const pool = new Pool({ memory: options.maxMemoryMb, max: 2 });
  const shared = { pool, timeoutMs: options.queryTimeoutMs, allowDdl: options.allowDdl };
  const named = new Map(
    files.map(({ name, value }) => [name, new SqliteDatabase(name, { file: value }, shared)]),
  );
  const names = [...named.keys()];
  return {
    ...{ kind, guard, changes, names },
    async at(name) {
      const [first] = named.values();
      const database = name === undefined ? first : named.get(name);
      if (database !== undefined) return database;
      const place = await placeOf(guard, names, name);
      return new SqliteDatabase(place.file, place, shared);
    },
    close: () => pool.close(),
  };
}

/**
 * A database file inside the allowed directories.
 *
 * @throws ToolError `not_found`, or what the boundary throws
 */
async function placeOf(guard: PathGuard, names: readonly string[], path: string | undefined) {
  if (path === undefined)
    throw new ToolError("invalid", "No database is specified.", {
      hint: "Pass database: a path inside the allowed directories; or ask the user to start the server with --db-path FILE.",
    });
  if (!/[/\\.]/.test(path)) {
    const hint = `Named databases: ${names.join(", ") || "none"}. A path also works.`;
    throw withNear("database", path, names, hint);
  }
  const file = await guard.openFile(path);
  await file.handle.close();
  return { file: file.realPath, device: file.stat.dev, inode: file.stat.ino };
}
