import { cursorsOf, ToolError } from "@refmcp/core/answer";
import { answerOf, type Format } from "@refmcp/sql";
import * as z from "zod";
import type { Databases } from "../connection/databases.ts";
import type { ReadAnswer } from "../connection/protocol.ts";
import { passReading } from "../gate/gate.ts";
import { paramsOf } from "../gate/params.ts";
import { nearNames } from "./near-names.ts";

export interface Question {
  readonly sql: string;
  readonly params: readonly unknown[];
  readonly database: string | undefined;
  readonly maxRows: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly cursor: string | undefined;
  readonly format: Format;
  readonly budget: number;
  readonly signal: AbortSignal;
}

const state = z.tuple([z.int().min(1), z.string()]);

/**
 * Runs one reading statement and gives a page of its rows. A cursor holds how many rows came before and their hash: where
 * those rows are not the same any more the next page is a `conflict`, so that no row is given twice or left out.
 *
 * @throws ToolError what the gate, the boundary, SQLite and the limits say.
 */
export async function query(databases: Databases, question: Question) {
  const started = performance.now();
  passReading(question.sql);
  const { sql, database, format, signal } = question;
  const params = paramsOf(question.params);
  const cursors = cursorsOf("read_query", [sql, question.params, database], state);
  const [skip, mark] = cursors.decode(question.cursor) ?? [0, undefined];
  const place = await databases.place(database);
  const { rows, bytes, cellBytes, timeoutMs } = databases.limits(question);
  const job = {
    op: "read" as const,
    place,
    sql,
    params,
    rows,
    bytes,
    cellBytes,
    format,
    budget: question.budget,
    skip,
    mark,
    blobs: `blob://${encodeURIComponent(database ?? databases.names()[0] ?? "")}`,
  };
  const run = { signal, timeoutMs };
  const answer = await databases.runners.run<ReadAnswer>(job, run).catch(async (error: unknown) => {
    throw await nearNames(error, databases, place, signal);
  });
  if (answer.moved)
    throw new ToolError(
      "conflict",
      "The rows before this cursor are no longer the same, so the next page cannot be told.",
      {
        hint: "Leave cursor out to start again; an ORDER BY over a unique key keeps the order.",
      },
    );
  const { columns, stopped, cut, mark: reached } = answer;
  return answerOf({
    columns,
    rows: answer.rows,
    format,
    stopped,
    cut,
    nextCursor: stopped === undefined ? undefined : cursors.encode([skip + answer.rows.length, reached]),
    elapsedMs: performance.now() - started,
  });
}
