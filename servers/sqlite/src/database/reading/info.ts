import { attempting, look, type Source, text } from "./look.ts";

/** The time limit of statements that read the whole file. */
const THOROUGH_MS = 5_000;
const FACTS = `SELECT * FROM pragma_page_count, pragma_page_size, pragma_freelist_count, pragma_journal_mode,
  pragma_encoding, (SELECT sqlite_version() AS version)`;
const CHECK = "SELECT quick_check FROM pragma_quick_check LIMIT 10";
const LARGEST = `SELECT coalesce(s.tbl_name, d.name) AS name, sum(d.pgsize) AS bytes
  FROM dbstat d LEFT JOIN sqlite_schema s ON s.name = d.name
  WHERE d.aggregate = TRUE GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`;

/** Size, pages, journal mode, a quick check of the file and its largest tables. */
export async function databaseInfo(source: Source) {
  const [[facts = {}] = []] = await look(source, [[FACTS]]);
  const notices: string[] = [];
  const attempt = attempting(notices);
  const thorough = { timeoutMs: THOROUGH_MS };
  const check = await attempt("Integrity", () => look(source, [[CHECK]], thorough));
  const largest = await attempt("Largest tables", () => look(source, [[LARGEST]], thorough));
  return {
    size_bytes: Number(facts.page_count) * Number(facts.page_size),
    page_size: Number(facts.page_size),
    page_count: Number(facts.page_count),
    free_pages: Number(facts.freelist_count),
    journal_mode: text(facts.journal_mode),
    encoding: text(facts.encoding),
    ...(check && { integrity: check.flat().map(({ quick_check }) => text(quick_check)) }),
    ...(largest && {
      largest_tables: largest.flat().map(({ name, bytes }) => ({ name: text(name), bytes: Number(bytes) })),
    }),
    sqlite_version: text(facts.version),
    ...(notices.length > 0 && { notices }),
  };
}
