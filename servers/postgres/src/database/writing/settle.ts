import { ToolError } from "@refmcp/boundary/answer";
import { type ChangeWriter, lossText } from "@refmcp/sql";
import type { Database, Session } from "../connection/database.ts";
import { isLost } from "../errors.ts";
import type { Change } from "../gate/write-gate.ts";
import type { TouchedTable } from "./losses.ts";
import {
  MULTIXACTS,
  type Places,
  record,
  STARTED,
  type Start,
  Unrecordable,
  written,
} from "./record.ts";

/** The tables, by their quoted names, of which RETURNING finds the changed rows. */
type Locatable = ReadonlySet<string>;

/**
 * What must be known before the first statement of a change, and where RETURNING may find its rows: it must not change what a
 * statement does. With row security it would, and rules may not support it.
 */
export async function startOf(
  { changes: record }: Database,
  session: Session,
  changes: readonly Change[],
): Promise<Start & { readonly locatable: Locatable }> {
  if (record?.isOn !== true)
    return { multixacts: 0, started: "", counts: true, locatable: new Set() };
  const [found] = await session.rows<Start & { locatable: string[] } & Record<string, unknown>>(
    `SELECT ${MULTIXACTS} AS multixacts, ${STARTED} AS started, pg_catalog.current_setting('track_counts') = 'on' AS counts, ARRAY(SELECT named FROM pg_catalog.unnest($1::text[]) named JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(named)
       WHERE c.relkind IN ('r', 'p') AND NOT c.relhasrules AND pg_catalog.has_table_privilege(c.oid, 'SELECT') AND NOT pg_catalog.row_security_active(c.oid)
         AND NOT (c.relhassubclass AND EXISTS (SELECT FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class f ON f.oid = i.inhrelid WHERE f.relkind = 'f'))) AS locatable`,
    [changes.flatMap(({ located }) => located?.relation ?? [])],
  );
  return {
    multixacts: 0,
    started: "",
    counts: false,
    ...found,
    locatable: new Set(found?.locatable),
  };
}

interface Settling extends Start {
  readonly statements: readonly string[];
  readonly tables: readonly TouchedTable[];
  readonly places: Places;
  /** Statements that change the schema, and protections that are weakened. */
  readonly objects?: readonly string[];
  readonly weakened?: readonly string[];
  readonly dryRun: boolean;
  /** Asks the user; throws if the user declines or can't be asked. */
  confirm(loss: string): Promise<void>;
}

/**
 * Records the rows that a transaction changed, asks about what can't be undone, and commits unless it is a dry run.
 *
 * @returns the loss in a sentence, if there is one, and the id of the record
 */
export async function settle(
  database: Database,
  session: Session,
  { tables, objects = [], weakened = [], dryRun, confirm, statements, ...given }: Settling,
): Promise<{ loss?: string | undefined; changeId?: string | undefined }> {
  const recording = tables.length > 0 ? await database.startRecord() : undefined;
  const writer = typeof recording === "string" ? undefined : recording;
  let reason = typeof recording === "string" ? recording : undefined;
  try {
    let isEmpty = true;
    if (writer !== undefined) {
      try {
        const facts = await record(database, session, writer, { tables, ...given });
        isEmpty = writer.tables.length === 0;
        if (!isEmpty && !dryRun)
          written(() => writer.finish({ database: database.identity, statements, facts }));
      } catch (error) {
        if (!(error instanceof Unrecordable)) throw error;
        reason = error.message;
      }
    }
    const loss = lossText({
      tables: reason === undefined ? [] : tables,
      objects,
      weakened,
      reason,
    });
    if (dryRun) return { loss };
    if (loss !== undefined) await confirm(loss);
    return {
      loss,
      changeId: await commit(session, reason === undefined && !isEmpty ? writer : undefined),
    };
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
