import { oneLine } from "@refmcp/boundary/answer";
import { type Changed, type ChangeJob, shownSql } from "@refmcp/sql";
import type { Session, Sessions } from "../driver/sessions.ts";
import type { Mention } from "../gate/functions.ts";
import { type Change, passWriting } from "../gate/write.ts";
import { changeAlone } from "./alone.ts";
import {
  AT_LAST,
  changedElsewhere,
  changedProtection,
  hasReplaced,
  lookAt,
  oidOf,
  PROTECTION_CHANGED,
  touched,
  without,
} from "./losses.ts";
import { settle, startOf } from "./settle.ts";
import { changed, numbered, runStatement, type StatementOutcome } from "./statement.ts";

const MAX_TABLES = 100;
const CODE = "DO, a block of code with unpredictable effects";
const CASCADES = /drop cascades|truncate cascades/;

/**
 * Runs changing statements in one transaction. The loss is determined by running them, and the transaction is committed only if
 * nothing is lost or the user agreed to exactly this loss.
 *
 * @param identity what the record of changes knows the database by
 * @throws ToolError from the gate or PostgreSQL, or if the user declines; nothing is changed then.
 */
export async function change(
  sessions: Sessions,
  identity: string,
  job: ChangeJob,
): Promise<Changed> {
  const { statements, signal, dryRun } = job;
  const { allowAdmin } = sessions.limits;
  const changes: Change[] = [];
  for (const [index, { sql }] of statements.entries())
    changes.push(await numbered(index, statements.length, passWriting(sql, allowAdmin)));
  const alone = changes.find((each) => each.alone !== undefined);
  if (alone !== undefined) return await changeAlone(sessions, alone, job);
  // What a block of code does may outlast a rollback, so nothing of it runs before the user agrees.
  const codes = changes.flatMap(({ command, sql }) =>
    command === "DO" ? [`${CODE}: ${shownSql(sql)}`] : [],
  );
  if (codes.length > 0 && !dryRun) await job.agree({ objects: codes });
  return await sessions.change({ signal }, async (session) => {
    const earlier = await touched(session);
    const start = await startOf(
      session,
      changes.flatMap(({ located }) => located?.relation ?? []),
    );
    const run = new Run(sessions, session, start.locatable, job);
    await run.all(changes);
    const now = await touched(session, AT_LAST);
    const tables = without(now.tables, earlier.tables);
    const isWeakened =
      run.isWeakened || (!run.isMixed && (await changedProtection(session, earlier, now)));
    const notices = session.connection.takeNotices();
    const counts = run.outcomes.map(({ rowCount }) => rowCount);
    const elsewhere = await changedElsewhere(session, changes, counts, tables);
    const cascades = notices.filter((notice) => CASCADES.test(notice)).map(oneLine);
    const outcome = {
      ...start,
      identity,
      statements: changes.map(({ sql }) => sql),
      places: run.places,
      tables: [...tables, ...elsewhere],
      objects: [...(dryRun ? codes : []), ...run.losses, ...cascades],
      weakened: isWeakened ? [PROTECTION_CHANGED] : [],
    };
    const { loss, changeId } = await settle(sessions, session, outcome, job);
    const visibleTables = tables.slice(0, MAX_TABLES).map(({ id: _, ...table }) => table);
    const committed = !dryRun;
    return changed(run.outcomes, job.rowChars, {
      committed,
      changeId,
      tables: visibleTables,
      loss,
      notices,
    });
  });
}

/** The statements of a change, one after the other, and what their effects do not show afterwards. */
class Run {
  readonly outcomes: StatementOutcome[] = [];
  readonly places = { created: new Map<string, string[]>(), deleted: new Map<string, string[]>() };
  /** Statements that can't be undone, with the rows that are lost. */
  readonly losses: string[] = [];
  isWeakened = false;
  /** Whether some change the schema: they are judged by their text, and the others each by their effects. */
  isMixed = false;
  readonly #sessions: Sessions;
  readonly #session: Session;
  readonly #locatable: readonly string[];
  readonly #job: ChangeJob;
  /** The object ids of relations that an earlier statement made. */
  readonly #made = new Set<string>();

  constructor(sessions: Sessions, session: Session, locatable: readonly string[], job: ChangeJob) {
    this.#sessions = sessions;
    this.#session = session;
    this.#locatable = locatable;
    this.#job = job;
  }

  async all(changes: readonly Change[]): Promise<void> {
    const { dryRun, statements } = this.#job;
    this.isMixed = changes.some(({ changesRows }) => !changesRows);
    const judge = (mentions: readonly Mention[]) =>
      this.#sessions.functions.requireHarmless(
        this.#session.lookInside,
        mentions,
        dryRun ? "dry run" : "change",
      );
    if (!this.isMixed) await judge(changes.flatMap(({ mentions }) => mentions));
    for (const [index, change] of changes.entries()) {
      const work = async () => {
        if (this.isMixed) await judge(change.mentions);
        await this.#run(change, statements[index]?.params ?? []);
      };
      await numbered(index, changes.length, work(), change.sql);
    }
  }

  async #run(change: Change, params: readonly unknown[]): Promise<void> {
    const session = this.#session;
    const { loss, creates, located, replaces, changesRows } = change;
    const lost = loss === undefined ? undefined : await lookAt(session, loss, this.#made);
    const isFree = creates !== undefined && (await oidOf(session, creates)) === undefined;
    const isJudged = this.isMixed && (changesRows || replaces);
    const before = isJudged ? await touched(session) : undefined;
    const isLocated = located !== undefined && this.#locatable.includes(located.relation);
    const { created, deleted } = this.places;
    const places = change.command === "DELETE" ? deleted : created;
    this.outcomes.push(
      await runStatement(
        this.#sessions,
        session,
        isLocated ? { ...change, sql: located.sql } : change,
        params,
        isLocated ? places : undefined,
      ),
    );
    if (before !== undefined) {
      const after = await touched(session);
      if (!replaces) this.isWeakened ||= await changedProtection(session, before, after);
      else if (hasReplaced(before, after)) this.losses.push(shownSql(change.sql));
    }
    const oid = isFree ? await oidOf(session, creates) : undefined;
    if (oid !== undefined) this.#made.add(oid);
    if (lost !== undefined) this.losses.push(lost);
  }
}
