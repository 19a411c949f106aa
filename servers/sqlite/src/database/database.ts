import { closeSync, existsSync, openSync } from "node:fs";
import { ToolError } from "@refmcp/boundary/answer";
import {
  type Bound,
  type Changed,
  type ChangeJob,
  type CopyIn,
  type CopyOut,
  changedSince,
  type Database,
  lossText,
  type Page,
  type Reading,
  type RecordedChange,
  type Relation,
  type ResultWindow,
  type Settling,
  TOO_LARGE,
  type Undone,
  type Work,
} from "@refmcp/sql";
import * as z from "zod";
import { watched } from "./change/effects.ts";
import type { Place } from "./driver/handle.ts";
import type { Answer, Job, Op } from "./driver/jobs.ts";
import type { Pool } from "./driver/pool.ts";
import { shownPlan } from "./explain/plan.ts";
import { identityOf, isAnother, versionOf } from "./file.ts";
import { copyIn, copyOut } from "./files/transfer.ts";
import { passReading, passWriting } from "./gate/gate.ts";
import { nullsFor, paramsOf } from "./gate/params.ts";
import { describe, factsOf, relationsIn, writableColumns } from "./schema/describe.ts";
import { explainedIn } from "./schema/hints.ts";
import { look, type Source } from "./schema/look.ts";

interface SqliteOptions {
  readonly pool: Pool;
  /** The limit of a statement, in milliseconds. */
  readonly timeoutMs: number;
  readonly allowDdl: boolean;
}

/** What the record of a change has in addition to its rows. */
const facts = z.object({
  columns: z.record(z.string(), z.array(z.string())),
  indexes: z.array(z.string()),
  version: z
    .object({ commits: z.number(), schemas: z.number(), created: z.string().optional() })
    .optional(),
});

/** Undoing a change takes longer than the change, and must not fail for that. */
const UNDO_MS = 600_000;
/** Only ends a process that hangs. The statement limit does not apply: a killed rollback would start again. */
const ROLLBACK_MS = 3_600_000;
/** A SQLite database file. */
export class SqliteDatabase implements Database {
  readonly name: string;
  readonly #place: Place;
  readonly #options: SqliteOptions;
  readonly #source: Source;

  constructor(name: string, place: Place, options: SqliteOptions) {
    this.name = name;
    this.#place = place;
    this.#options = options;
    this.#source = { place, pool: options.pool, timeoutMs: options.timeoutMs };
  }

  get identity(): string {
    return identityOf(this.#place.file);
  }

  /** Runs the user's statement. Errors of SQLite get the position in the statement and names similar to a missing one. */
  async #run<Name extends Op>(
    op: Name,
    job: Job<Name> & { place: Place },
    sql: string,
    { signal, timeoutMs = this.#options.timeoutMs }: Work,
  ): Promise<Answer<Name>> {
    try {
      return await this.#options.pool.run(op, job, { signal, timeoutMs });
    } catch (error) {
      if (op === "change" || op === "undo") await this.recover();
      throw await explainedIn(error, sql, this.#source, signal);
    }
  }

  async read({ sql, params, ...question }: Reading, page: Page): Promise<ResultWindow> {
    passReading(sql);
    const { format, cellBytes, signal } = question;
    const timeoutMs = Math.min(
      question.timeoutMs ?? Number.POSITIVE_INFINITY,
      this.#options.timeoutMs,
    );
    const bound = { sql, params: paramsOf(sql, params) };
    const job = { place: this.#place, ...bound, cellBytes, format, ...page };
    const { columns, text, rows, cuts, before, more } = await this.#run("read", job, sql, {
      signal,
      timeoutMs,
    });
    const pieces = rows === 0 ? [] : text.split("\n");
    return { columns, pieces, cuts: new Set(cuts), before, more };
  }

  async explain({ sql, params, signal }: Bound & Work) {
    passReading(sql);
    const values = paramsOf(sql, params.length === 0 ? nullsFor(sql) : params);
    const job = { place: this.#place, sql, params: values };
    return shownPlan(await this.#run("plan", job, sql, { signal }));
  }

  relations = (work: Work) => relationsIn(this.#source, work);
  facts = (relations: readonly Relation[], work: Work) => factsOf(this.#source, relations, work);
  describe = (relation: Relation, work: Work) => describe(this.#source, relation, work);
  columns = (relation: Relation, work: Work) => writableColumns(this.#source, relation, work);

  /**
   * Measures the loss, and rolls back if there is one: no lock is held while the user is asked. Then runs again, and commits if
   * the loss is still the same.
   */
  async change({
    statements,
    dryRun,
    rowChars,
    record,
    agree,
    signal,
  }: ChangeJob): Promise<Changed> {
    const judged = statements.map(({ sql, params }) => {
      const statement = passWriting(sql, this.#options.allowDdl);
      return { ...watched(statement), sql, params: paramsOf(sql, params) };
    });
    if (!dryRun) this.#createFile(judged[0]?.verb);
    const sql = statements.map((statement) => statement.sql).join(";\n");
    const attempt = async (agreed: string | undefined) => {
      const run = (recording: Awaited<ReturnType<typeof record>>) => {
        const job = { statements: judged, dryRun, rowChars, agreed, recording, ...this.#facts };
        return this.#run("change", { place: this.#place, ...job }, sql, { signal });
      };
      const recording = await record();
      try {
        return await run(recording);
      } catch (error) {
        // SQLite keeps the rows of INSERT … SELECT in memory if there is a trigger, and a record needs one.
        if ("reason" in recording || !(error instanceof ToolError && error.kind === "too_large"))
          throw error;
        return await run({ reason: TOO_LARGE });
      }
    };
    const first = await attempt(undefined);
    if (dryRun || first.loss === undefined) return first;
    await agree(first.loss);
    const second = await attempt(lossText(first.loss));
    if (second.committed) return second;
    const now = (second.loss && lossText(second.loss)) ?? "nothing would be lost now";
    throw new ToolError(
      "conflict",
      `The data changed while the user was being asked; now: ${now}`,
      {
        hint: "Nothing was changed. Call again to ask again.",
      },
    );
  }

  get #facts() {
    return { identity: this.identity, version: versionOf(this.#place.file) };
  }

  /** A database that the user named is created with its first table. */
  #createFile(verb: string | undefined): void {
    const { file, inode } = this.#place;
    if (verb === "CREATE" && inode === undefined && !existsSync(file))
      closeSync(openSync(file, "a"));
  }

  async undo(
    change: RecordedChange,
    { dryRun, record, signal }: Omit<Settling, "agree">,
  ): Promise<Undone> {
    const { id, path, tables } = change;
    const { version, ...recorded } = facts.parse(change.facts);
    const refused = (
      message: string,
      hint = "Nothing was changed. Restore rows with your own statements.",
    ) => new ToolError("conflict", `Change ${id} was not undone${message}`, { hint });
    if (isAnother(version, this.#place.file))
      throw refused(
        `: ${JSON.stringify(this.#place.file)} now has the content of another or an older database.`,
      );
    const job = { place: this.#place, id, path, facts: recorded, dryRun, ...this.#facts };
    const timeoutMs = Math.max(this.#options.timeoutMs, UNDO_MS);
    const attempt = (recording: Awaited<ReturnType<typeof record>>) =>
      this.#run("undo", { ...job, recording }, "", { signal, timeoutMs });
    let answer = await attempt(await record());
    // What an undo removes that only added rows is in the record of the change.
    const isAddition = tables.every(({ updated, deleted }) => updated + deleted === 0);
    const isTooLarge = "unrecorded" in answer && answer.unrecorded === TOO_LARGE && isAddition;
    if (isTooLarge) answer = await attempt({ reason: TOO_LARGE });
    if ("unrecorded" in answer)
      throw new ToolError(
        "unavailable",
        `Change ${id} was not undone, because ${answer.unrecorded}.`,
        {
          hint: "Nothing was changed. An undo is always recorded, so that it can be undone too; check --undo-dir and its disk.",
        },
      );
    if (!("obstacle" in answer))
      return {
        ...answer,
        ...(isTooLarge
          ? { note: "This undo is too large to be recorded, so it can't be undone." }
          : {}),
      };
    const { obstacle } = answer;
    if ("message" in obstacle) throw refused(`. ${obstacle.message}`, obstacle.hint);
    if (!change.isPending || !obstacle.isAsBefore)
      throw changedSince(id, obstacle.rows, obstacle.count);
    throw new ToolError(
      "conflict",
      `Change ${id} was never committed, so there is nothing to undo.`,
      {
        hint: "The server ended before the commit; all its rows are as before.",
      },
    );
  }

  /** A pending change shows only when it is undone. */
  settled = async (changes: RecordedChange[]) => changes;

  copyOut = (job: CopyOut): Promise<number> => copyOut(this.#source, job);
  copyIn = (job: CopyIn) => copyIn(this.#source, job, this.#facts, () => this.recover());

  /** A killed process leaves a journal, which a reading handle can't roll back but an empty change does. */
  async recover(): Promise<void> {
    const nothing = { statements: [], dryRun: true, agreed: undefined, rowChars: 0 };
    const recording = { reason: "nothing is changed" };
    const job = { place: this.#place, ...nothing, recording, ...this.#facts };
    const run = { signal: new AbortController().signal, timeoutMs: ROLLBACK_MS };
    await this.#options.pool.run("change", job, run).catch(() => undefined);
  }

  async ready(signal: AbortSignal): Promise<void> {
    await look(this.#source, [["SELECT count(*) FROM sqlite_schema"]], { signal });
  }
}
