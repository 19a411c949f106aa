import { readFileSync } from "node:fs";

const FILE = readFileSync(new URL("./lints.sql", import.meta.url), "utf8");

const [SHARED = "", ...SECTIONS] = FILE.trim().split("\n\n");

interface Lint {
  readonly check: string;
  readonly problem: string;
  /** Finds the objects with this problem, in one column `object`, after `SHARED`. */
  readonly find: string;
}

/** All lints of lints.sql. */
const LINTS = SECTIONS.map((find): Lint => {
  const [, check = "", problem = ""] = /^-- (\w+): (.*?)(?: \[splinter .*\])?$/m.exec(find) ?? [];
  return { check, problem, find };
});

/** The problems that lints look for, each with the query that finds its objects. */
export const PROBLEMS: Readonly<Record<string, string>> = Object.fromEntries(
  LINTS.map(({ problem, find }) => [problem, `${SHARED}\n${find}`]),
);

const SHOWN = 10;

const lintsOf = (check: string) => LINTS.filter((lint) => lint.check === check);

/** One query for all lints of a check, with a row for each problem that exists; the first row names the API roles that exist. */
export function lintQuery(check: string): string {
  const findings = lintsOf(check).map(
    ({ find }, at) =>
      `SELECT ${at}, pg_catalog.count(*)::int, (pg_catalog.array_agg(object::text ORDER BY object::text))[1:${SHOWN}] FROM (${find}\n) found HAVING pg_catalog.count(*) > 0`,
  );
  const roles =
    "SELECT -1 AS lint, 0 AS count, ARRAY(SELECT rolname::text FROM role ORDER BY 1) AS objects";
  return `${SHARED}\n${[roles, ...findings].join(" UNION ALL ")} ORDER BY 1`;
}

/**
 * What the rows of `lintQuery` mean. The summary says what was checked, since a database may have other problems.
 *
 * @param checked a list of what the lints check; `API roles` are named in it
 */
export const lintResult =
  (check: string, checked: string) => (rows: readonly Readonly<Record<string, unknown>>[]) => {
    const lints = lintsOf(check);
    const roles = rows.flatMap(({ lint, objects }) =>
      lint === -1 && Array.isArray(objects) ? objects : [],
    );
    const details = rows.flatMap(({ lint, count, objects }) => {
      const problem = lints[Number(lint)]?.problem;
      return problem === undefined ? [] : [{ problem, count, objects }];
    });
    const existing = roles.join(", ") || "none of anon, authenticated exists here";
    const looked = `Checked: ${checked.replace("API roles", `API roles (${existing})`)}.`;
    if (details.length === 0) return { ok: true, summary: `Nothing found. ${looked}` };
    const total = details.reduce((sum, { count }) => sum + Number(count), 0);
    return { ok: false, summary: `Problems found: ${total}. ${looked}`, details };
  };
