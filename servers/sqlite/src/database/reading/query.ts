import type { Question } from "@refmcp/sql";
import type { Databases } from "../connection/databases.ts";
import type { ReadAnswer } from "../connection/protocol.ts";
import { passReading } from "../gate/gate.ts";
import { paramsOf } from "../gate/params.ts";
import { runStatement } from "./near-names.ts";

/**
 * Runs one reading statement and returns a page of its rows, as the JSON text of `queryOutput`.
 *
 * @throws ToolError what the gate, the boundary, SQLite and the limits refuse, and for an invalid cursor
 */
export async function query(databases: Databases, question: Question): Promise<string> {
  passReading(question.sql);
  const { sql, database, format, signal, cursor, budget } = question;
  const params = paramsOf(sql, question.params);
  const place = await databases.place(database);
  const { rows, bytes, cellBytes, timeoutMs } = databases.limits(question);
  const blobs = `blob://${encodeURIComponent(database ?? databases.names()[0] ?? "")}`;
  return await databases.results.page({
    list: "read_query",
    query: [sql, question.params, database, format],
    cursor,
    format,
    maxRows: rows,
    maxBytes: bytes,
    budget,
    async read(ahead) {
      const job = { op: "read" as const, place, sql, params, cellBytes, format, blobs, ...ahead };
      const answer = await runStatement<ReadAnswer>(databases, job, { sql, signal, timeoutMs });
      const { columns, text, before, more } = answer;
      const pieces = answer.rows === 0 ? [] : text.split("\n");
      return { columns, pieces, cuts: new Set(answer.cuts), before, more };
    },
  });
}
