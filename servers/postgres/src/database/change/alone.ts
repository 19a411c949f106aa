import { ToolError } from "@refmcp/boundary/answer";
import { type Changed, type ChangeJob, lossText } from "@refmcp/sql";
import type { Session, Sessions } from "../driver/sessions.ts";
import type { Change } from "../gate/write.ts";
import { lookAt } from "./losses.ts";
import { changed, runStatement } from "./statement.ts";

/** Runs a statement that PostgreSQL refuses in a transaction: alone, and without a way to roll it back. */
export async function changeAlone(
  sessions: Sessions,
  change: Change,
  { statements, signal, rowChars, dryRun, agree }: ChangeJob,
): Promise<Changed> {
  const [statement, ...others] = statements;
  if (others.length > 0 || dryRun)
    throw new ToolError("invalid", "VACUUM and CONCURRENTLY can't run in a transaction.", {
      hint: `Pass the statement alone${dryRun ? ", without dry_run" : ""}.`,
    });
  const relation = change.alone?.relation;
  let earlier: readonly string[] = [];
  const work = { signal, sql: change.sql, mode: undefined };
  try {
    return await sessions.work(work, async (session) => {
      earlier = await invalidIndexes(session, relation);
      const lost = change.loss && (await lookAt(session, change.loss, new Set()));
      const loss = lost === undefined ? undefined : { objects: [lost] };
      if (loss !== undefined && lossText(loss) !== undefined) await agree(loss);
      const params = statement?.params ?? [];
      const outcome = await runStatement(sessions, session, change, params);
      const notices = session.connection.takeNotices();
      return changed([outcome], rowChars, { committed: true, tables: [], loss, notices });
    });
  } catch (error) {
    if (!(error instanceof ToolError) || relation === undefined) throw error;
    const now = await sessions
      .work({ signal }, (session) => invalidIndexes(session, relation))
      .catch(() => []);
    const leftovers = now.filter((index) => !earlier.includes(index));
    if (leftovers.length === 0) throw error;
    const what = leftovers.length === 1 ? "an invalid index" : "invalid indexes";
    throw new ToolError(
      error.kind,
      `${error.message.replace("; nothing was changed", "")} It left ${what}, which no query uses and every write maintains: ${leftovers.join(", ")}.`,
      {
        code: error.code,
        hint: `Run ${leftovers.map((name) => `DROP INDEX CONCURRENTLY ${name}`).join("; ")} before you try again.`,
      },
    );
  }
}

/** Invalid indexes of a table, or of an index's table: what an interrupted CONCURRENTLY leaves. */
async function invalidIndexes(session: Session, relation: string | undefined): Promise<string[]> {
  if (relation === undefined) return [];
  const rows = await session.rows<{ name: string }>(
    `SELECT indexrelid::pg_catalog.regclass::text AS name FROM pg_catalog.pg_index
     WHERE NOT indisvalid AND indrelid IN (SELECT pg_catalog.to_regclass($1) UNION ALL
       SELECT indrelid FROM pg_catalog.pg_index WHERE indexrelid = pg_catalog.to_regclass($1))
     ORDER BY 1`,
    [relation],
  );
  return rows.map(({ name }) => name);
}
