import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "imports a CSV file, answers exactly, and asks before data is lost.";

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ folder, say, connect }) {
  await writeFile(
    join(folder, "planets.csv"),
    "name,moons,mass\nEarth,1,5.972e24\nMars,2,6.417e23\nSaturn,274,5.683e26\n",
  );
  say("An embedded PostgreSQL, to try it out; connect to your own with --url.");
  const args = ["--embedded", "--allow-write", "--root", folder];
  const server = await connect("postgres", {
    era: "modern",
    args,
    elicit: () => ({ action: "decline" }),
  });
  await server.call(
    "pg_execute",
    {
      statements: [
        "CREATE TABLE planets (name text PRIMARY KEY, moons int NOT NULL, mass numeric)",
      ],
    },
    { committed: true },
  );
  await server.call("pg_import_csv", { path: "planets.csv", table: "planets" }, { rows: 3 });
  const all = [
    ["Saturn", 274, "568300000000000000000000000"],
    ["Mars", 2, "641700000000000000000000"],
  ];
  const sql = "SELECT name, moons, mass FROM planets WHERE moons > $1 ORDER BY moons DESC";
  await server.call("query", { sql, params: [1] }, { rows: all });

  say("A misspelled table gets a suggestion, and a second statement is refused.");
  await server.call("query", { sql: "SELECT * FROM planet" }, { fails: /"planet" does not exist/ });
  await server.call("query", { sql: "SELECT 1; DROP TABLE planets" }, { fails: /2 statements/ });
  say("Every change of rows is recorded, and can be undone.");
  const emptied = await server.call(
    "pg_execute",
    { statements: ["DELETE FROM planets"] },
    { committed: true },
  );
  const change_id = emptied.structuredContent?.change_id;
  await server.call("pg_undo_change", { change_id }, { committed: true });
  say("A change that can't be undone shows the exact loss and asks the user, who declines.");
  await server.call("pg_execute", { statements: ["DROP TABLE planets"] }, { fails: /declined/ });
  await server.call("query", { sql: "SELECT count(*)::int FROM planets" }, { rows: [[3]] });
  await server.close();
}
