import type { Database } from "better-sqlite3";
import { damaged } from "../errors.ts";
import { fold, spaced, wordsOf } from "../text.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import { isBusy, SEARCH_INDEX } from "./sqlite-file.ts";
import { Writer } from "./writer.ts";

/** With more rows, opening a memory does not read the whole index to check it. */
const MAX_CHECKED = 20_000;
/** How many entities are tried until one has a name that can be looked up. */
const MAX_TRIED = 20;
const PROBE_WORDS = 5;

/**
 * What is wrong with the search index; undefined if nothing was found. FTS5's own check, which does not see missing rows
 * of every table of the index, is left out for a large memory if `isOpening`.
 */
export function indexProblem(db: Database, isOpening = false): string | undefined {
  const look = db.transaction(() => {
    const { indexed = 0, live = 0 } =
      db
        .prepare<[], { indexed: number; live: number }>(
          `SELECT (SELECT count(*) FROM search_docsize) AS indexed,
             (SELECT count(*) FROM entities WHERE removed_by IS NULL) + (SELECT count(*)
               FROM observations WHERE removed_by IS NULL AND superseded_at IS NULL) AS live`,
        )
        .get() ?? {};
    if (indexed !== live) return `it has ${indexed} of ${live} rows`;
    if (!isOpening || live <= MAX_CHECKED) {
      const verdict = String(db.pragma("quick_check(search)", { simple: true }));
      if (verdict !== "ok") return verdict;
    }
    return hasNewest(db) ? undefined : "it lacks an entity's name";
  });
  try {
    return look.deferred();
  } catch (error) {
    return isBusy(error) ? undefined : String(error);
  }
}

/** Whether a search for the name of one of the newest entities finds it, with a rank. */
function hasNewest(db: Database): boolean {
  const newest = db
    .prepare<[number], { id: number; name: string }>(
      "SELECT id, name FROM entities WHERE removed_by IS NULL ORDER BY id DESC LIMIT ?",
    )
    .all(MAX_TRIED)
    // Every Node.js version folds ASCII alike.
    .find(({ name }) => /^[ -~]*[a-z0-9][ -~]*$/i.test(name));
  if (newest === undefined) return true;
  const words = wordsOf(spaced(fold(newest.name))).slice(0, PROBE_WORDS);
  const probe = db.prepare("SELECT bm25(search) FROM search WHERE search MATCH ? AND rowid = ?");
  return probe.get(`"${words.join(" ")}"`, -newest.id) !== undefined;
}

/** Tables that are not derived from others. */
const STORED = ["entities", "observations", "relations", "changes", "journal"];

/**
 * Makes a damaged search index from the stored texts again, inside a transaction that locks the file.
 *
 * @throws ToolError `unavailable` if more than the index is damaged.
 */
export async function rebuildIndex(connection: SqliteConnection, file: string): Promise<void> {
  const { db } = connection;
  for (const table of STORED) {
    const verdict = String(db.pragma(`quick_check(${table})`, { simple: true }));
    if (verdict !== "ok") throw damaged(file, verdict);
  }
  // Otherwise the tables inside the index cannot be written.
  db.unsafeMode(true);
  try {
    // FTS5 does not even drop an index that has lost its version.
    if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'search_config'").get() !== undefined)
      db.exec("INSERT OR REPLACE INTO search_config (k, v) VALUES ('version', 4)");
    db.exec(`DROP TABLE IF EXISTS terms; DROP TABLE IF EXISTS search; ${SEARCH_INDEX}`);
  } finally {
    db.unsafeMode(false);
  }
  await new Writer(connection).indexAll();
}
