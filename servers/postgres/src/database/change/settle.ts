import { ToolError } from "@refmcp/boundary/answer";
import { type ChangeWriter, type Loss, lossText, type Settling } from "@refmcp/sql";
import { isLost } from "../driver/errors.ts";
import { STARTED } from "../driver/role.ts";
import type { Session, Sessions } from "../driver/sessions.ts";
import type { TouchedTable } from "./losses.ts";
import { type Places, recordRows, Unrecordable, writerFor, written } from "./record.ts";

/** What must be known before the first statement of a change. */
interface Start {
  readonly started: string;
  /** Whether the server counts what is changed. */
  readonly counts: boolean;
  /** The tables, by their quoted names, whose changed rows RETURNING finds. */
  readonly locatable: readonly string[];
}

const START = `
SELECT ${STARTED} AS started, pg_catalog.current_setting('track_counts') = 'on' AS counts,
  ARRAY(
    SELECT named FROM pg_catalog.unnest($1::text[]) named
    JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(named)
    WHERE c.relkind IN ('r', 'p') AND NOT c.relhasrules
      AND pg_catalog.has_table_privilege(c.oid, 'SELECT') AND NOT pg_catalog.row_security_active(c.oid)
      AND NOT (c.relhassubclass AND EXISTS (
        SELECT FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class f ON f.oid = i.inhrelid
        WHERE f.relkind = 'f'))) AS locatable`;

/**
 * Looks where RETURNING may find the rows of statements: it must not change what they do. With row security it would, and rules
 * may not support it.
 */
export async function startOf(session: Session, tables: readonly string[]): Promise<Start> {
  const [start] = await session.rows<Start & Record<string, unknown>>(START, [tables]);
  return start ?? { started: "", counts: false, locatable: [] };
}

interface Outcome extends Start, Loss {
  /** What the record knows the database by. */
  readonly identity: string;
  readonly statements: readonly string[];
  readonly tables: readonly TouchedTable[];
  readonly places: Places;
}

/**
 * Records the rows that a transaction changed, asks about what can't be undone, and commits unless it is a dry run.
 *
 * @returns the loss, if there is one, and the id of the record
 */
export async function settle(
  sessions: Sessions,
  session: Session,
  { identity, statements, tables, places, started, counts, objects = [], weakened = [] }: Outcome,
  { dryRun, record, agree }: Settling,
): Promise<{ loss?: Loss | undefined; changeId?: string | undefined }> {
  let writer: ChangeWriter | undefined;
  let reason: string | undefined;
  try {
    if (tables.length > 0)
      try {
        writer = writerFor(await record());
        if (!counts)
          throw new Unrecordable("the server doesn't count changed rows: track_counts is off");
        const facts = await recordRows(sessions, session, writer, { tables, places, started });
        const recording = writer;
        if (!dryRun && recording.tables.length > 0)
          written(() => recording.finish({ database: identity, statements, facts }));
      } catch (error) {
        if (!(error instanceof Unrecordable)) throw error;
        reason = error.message;
      }
    const all = { tables: reason === undefined ? [] : tables, objects, weakened, reason };
    const loss = lossText(all) === undefined ? undefined : all;
    if (dryRun) return { loss };
    if (loss !== undefined) await agree(loss);
    const isRecorded = reason === undefined && writer !== undefined && writer.tables.length > 0;
    return { loss, changeId: await commit(session, isRecorded ? writer : undefined) };
  } finally {
    writer?.discard();
  }
}

/**
 * Commits, and then the record of the change too.
 *
 * @returns the id of the change, if it is recorded
 * @throws ToolError if PostgreSQL rolled the transaction back instead
 */
export async function commit(
  session: Session,
  writer: ChangeWriter | undefined,
): Promise<string | undefined> {
  session.signal.throwIfAborted();
  try {
    const { tag } = await session.query({ text: "COMMIT", params: [] }, { chars: 1 });
    if (tag !== "COMMIT")
      throw new ToolError("conflict", "PostgreSQL rolled the change back. Nothing was changed.", {
        hint: "Try again.",
      });
  } catch (error) {
    // It may have been committed.
    if (isLost(error) || session.connection.isInvalid) writer?.uncertain();
    throw error;
  }
  return writer?.committed();
}
