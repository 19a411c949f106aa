import type { Bound, Explained } from "../connection/protocol.ts";
import { type Row, type Source, text } from "../reading/look.ts";
import { runStatement } from "../reading/near-names.ts";

/** The plan of a statement, its full scans and indexes that would help. */
export async function explain({ databases, database, signal }: Source, { sql, params }: Bound) {
  const place = await databases.place(database);
  const job = { op: "explain" as const, place, sql, params };
  const { plan, indexes } = await runStatement<Explained>(databases, job, { sql, signal });
  return {
    plan: indented(plan),
    full_scans: plan
      .flatMap(({ detail }) => /^SCAN (.+?)(?: VIRTUAL TABLE.*| USING.*)?$/s.exec(text(detail))?.[1] ?? [])
      .filter((name, at, all) => all.indexOf(name) === at && name !== "CONSTANT ROW"),
    missing_indexes: [...indexes],
  };
}

/** The plan as an indented tree, one line for each node. */
function indented(rows: readonly Row[]): string[] {
  const depths = new Map<number, number>();
  return rows.map(({ id, parent, detail }) => {
    const depth = (depths.get(Number(parent)) ?? -1) + 1;
    depths.set(Number(id), depth);
    return `${"  ".repeat(depth)}${text(detail)}`;
  });
}
