import { ToolError } from "@refmcp/core/answer";
import type { Databases } from "../connection/databases.ts";
import { look, text } from "./look.ts";

/** Both read the whole file, so they get so long and no longer. */
const THOROUGH_MS = 5_000;
const LARGEST = `SELECT coalesce(s.tbl_name, d.name) AS name, sum(d.pgsize) AS bytes
  FROM dbstat d LEFT JOIN sqlite_schema s ON s.name = d.name
  WHERE d.aggregate = TRUE GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`;

/** Size, pages, journal mode, a quick check of the file and its largest tables. */
export async function databaseInfo(databases: Databases, database: string | undefined, signal: AbortSignal) {
  const [pages = [], size = [], free = [], journal = [], encoding = [], version = []] = await look(
    databases,
    database,
    signal,
    [
      ["SELECT page_count AS value FROM pragma_page_count"],
      ["SELECT page_size AS value FROM pragma_page_size"],
      ["SELECT freelist_count AS value FROM pragma_freelist_count"],
      ["SELECT journal_mode AS value FROM pragma_journal_mode"],
      ["SELECT encoding AS value FROM pragma_encoding"],
      ["SELECT sqlite_version() AS value"],
    ],
  );
  const notices: string[] = [];
  const thorough = async (what: string, sql: string) => {
    try {
      return (await look(databases, database, signal, [[sql]], { timeoutMs: THOROUGH_MS }))[0] ?? [];
    } catch (error) {
      if (!(error instanceof ToolError) || error.kind === "cancelled") throw error;
      const why = error.kind === "timeout" ? `not done within ${THOROUGH_MS / 1_000} s` : error.message;
      notices.push(`${what}: ${why}`);
      return undefined;
    }
  };
  const check = await thorough("Integrity", "SELECT quick_check AS value FROM pragma_quick_check LIMIT 10");
  const largest = await thorough("Largest tables", LARGEST);
  const page = Number(size[0]?.value);
  return {
    size_bytes: Number(pages[0]?.value) * page,
    page_size: page,
    page_count: Number(pages[0]?.value),
    free_pages: Number(free[0]?.value),
    journal_mode: text(journal[0]?.value),
    encoding: text(encoding[0]?.value),
    ...(check === undefined ? {} : { integrity: check.map(({ value }) => text(value)) }),
    ...(largest === undefined
      ? {}
      : { largest_tables: largest.map(({ name, bytes }) => ({ name: text(name), bytes: Number(bytes) })) }),
    sqlite_version: text(version[0]?.value),
    ...(notices.length === 0 ? {} : { notices }),
  };
}
