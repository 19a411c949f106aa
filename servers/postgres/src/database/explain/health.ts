import { readFileSync } from "node:fs";
import { digits, ToolError } from "@refmcp/boundary/answer";
import type { QueryResultRow } from "pg";
import * as z from "zod";
import { explained } from "../driver/errors.ts";
import type { Sessions, Work } from "../driver/sessions.ts";
import { lintQuery, lintResult } from "./lints.ts";

const FILE = readFileSync(new URL("./checks.sql", import.meta.url), "utf8");
const RIGHTS = readFileSync(new URL("./rights.sql", import.meta.url), "utf8");

const finding = z.object({
  check: z.string(),
  /** `note`: it found nothing, but could not look at everything. */
  status: z.enum(["ok", "warning", "note"]),
  summary: z.string(),
  details: z.array(z.looseObject({})).optional(),
});

type Rows = readonly QueryResultRow[];

/** What the rows of a query mean; they may be part of the answer. */
type Judge = (rows: Rows) => { ok: boolean; summary: string; details?: QueryResultRow[] };

/** A check that should find no rows; otherwise, how many there are (`{}`) and what to do. */
const none =
  (fine: string, problem: string): Judge =>
  (rows) =>
    rows.length === 0
      ? { ok: true, summary: fine }
      : { ok: false, summary: problem.replace("{}", `${rows.length}`), details: [...rows] };

/** A check of numbers in one row. */
const facts =
  (judge: (of: (key: string) => number) => ReturnType<Judge>): Judge =>
  ([row]) =>
    judge((key) => Number(row?.[key] ?? 0));

/** Each check is independent of the others; sources: PostgreSQL, "Monitoring Sessions Activity" and "Routine Vacuuming". */
const JUDGES = {
  connections: facts((of) => ({
    ok: of("used") < of("max") * 0.8 && of("stuck") === 0,
    summary: `${of("used")} of ${of("max")} connections; ${of("stuck")} idle in a transaction for over 5 minutes.`,
  })),
  cache: facts((of) => ({
    ok: of("blocks") < 100_000 || of("percent") >= 95,
    summary: `${of("percent")}% of table blocks came from the cache.`,
  })),
  vacuum: none(
    "No table has many dead rows.",
    "Tables with many dead rows: {}. VACUUM them or tune autovacuum.",
  ),
  bloat: none(
    "No table or index over 10 MB is estimated to be more than half empty.",
    "Tables and indexes that are estimated to be more than half empty: {}. REINDEX CONCURRENTLY, VACUUM FULL or pg_repack shrinks them.",
  ),
  indexes: lintResult(
    "indexes",
    "invalid, unused and duplicate indexes, foreign keys without an index",
  ),
  wraparound: facts((of) => ({
    // Autovacuum freezes at its limit. Far beyond it autovacuum can't keep up, and at 2.1 billion the server stops accepting writes.
    ok: of("oldest") < Math.max(1.5 * of("frozen_at"), 400_000_000),
    summary: `The oldest unfrozen transaction is ${digits(of("oldest"))} transactions old; writes stop at 2.1 billion.`,
  })),
  transactions: none(
    "No transaction is open for over 5 minutes.",
    "Transactions open for over 5 minutes: {}. They hold back VACUUM and may hold locks.",
  ),
  constraints: none(
    "Every constraint is validated.",
    "Constraints that are not validated: {}. Older rows may violate them.",
  ),
  schema: lintResult(
    "schema",
    "primary keys, row security without policies, policies that overlap or ask once for every row, extensions in public, reg types",
  ),
  security: lintResult(
    "security",
    "tables without row security that PUBLIC or API roles can use, policies that let them write any row or trust user_metadata, views and foreign tables that bypass row security, SECURITY DEFINER functions and search_path, queues, storage buckets, GraphQL, references to the login service, versions of extensions; not what other roles may do, nor what a policy's condition means",
  ),
  sequences: none("No sequence is running out.", "Sequences that are running out: {}."),
  locks: none("No session is waiting for a lock.", "Sessions waiting for a lock: {}."),
  replication: none(
    "No standby is far behind, and every replication slot is active.",
    "Standbys over 100 MB behind, and inactive slots, which retain WAL: {}.",
  ),
  settings: (rows) => {
    const changed = rows.map(({ name, setting }) => `${name} = ${setting}`).join(", ");
    return {
      ok: rows.length === 0,
      summary: rows.length === 0 ? "No dangerous settings." : `${changed}.`,
    };
  },
} satisfies Readonly<Record<string, Judge>>;

type Check = keyof typeof JUDGES;
export const CHECKS = Object.keys(JUDGES) as readonly Check[];

/** The query of a check, and what its rows mean. */
export function inspectionOf(check: Check): { readonly statement: string; readonly judge: Judge } {
  const own = FILE.split("\n\n").find((section) => section.startsWith(`-- ${check}:`));
  return { statement: own ?? lintQuery(check), judge: JUDGES[check] };
}

/** What a report says in addition to its findings. */
export const report = z.object({
  /** The role whose rights it has, and which of them matter. */
  role: z.string(),
  findings: z.array(finding),
});

/**
 * Runs health checks, each independently. One that could not look at everything says what it did not see, and is never
 * "ok" then.
 */
export async function checkHealth(
  database: Sessions,
  checks: readonly Check[],
  work: Work,
): Promise<z.output<typeof report>> {
  const rights = await database.rows<{ check: string; unseen: string }>(work, RIGHTS);
  const unseenBy = (check: string) =>
    rights.flatMap((right) => (right.check === check ? [right.unseen] : []));
  const findings: z.output<typeof finding>[] = [];
  for (const check of checks) {
    const { statement, judge } = inspectionOf(check);
    const unseen = unseenBy(check);
    try {
      const { ok, summary, ...rest } = judge(await database.rows(work, statement));
      findings.push({
        check,
        status: ok ? (unseen.length === 0 ? "ok" : "note") : "warning",
        summary: unseen.length === 0 ? summary : `${summary} Not seen: ${unseen.join("; ")}.`,
        ...rest,
      });
    } catch (error) {
      const reason = explained(error, database.label);
      // A check that is forbidden or unknown to this version does not stop the others; a lost server does.
      if (
        !(reason instanceof ToolError) ||
        !["denied", "not_found", "invalid"].includes(reason.kind)
      )
        throw reason;
      findings.push({ check, status: "note", summary: `Not checked: ${reason.message}` });
    }
  }
  return { role: unseenBy("").join(), findings };
}
