import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "answers exactly, and shows what a change would lose before it happens.";

/** @param {any} stage see scripts/lib/stage.mjs */
export async function scene({ folder, say, connect }) {
  await writeFile(
    join(folder, "planets.csv"),
    "name,moons,mass\nEarth,1,5.972e24\nMars,2,6.417e23\nSaturn,274,5.683e26\n",
  );
  say("An embedded PostgreSQL in the server's own process, to try it out; your own comes with --url.");
  const args = ["--embedded", "--allow-write", "--root", folder];
  const server = await connect("postgres", { era: "modern", args, elicit: () => ({ action: "decline" }) });
  await server.call("pg_execute", {
    statements: ["CREATE TABLE planets (name text PRIMARY KEY, moons int NOT NULL, mass numeric)"],
  });
  await server.call("pg_import_csv", { path: "planets.csv", table: "planets" });
  await server.call("query", {
    sql: "SELECT name, moons, mass FROM planets WHERE moons > $1 ORDER BY moons DESC",
    params: [1],
  });

  say(
    "A mistake is told what is near; a second statement does not even parse; a loss is counted and asked about.",
  );
  await server.call("query", { sql: "SELECT * FROM planet" });
  await server.call("query", { sql: "SELECT 1; DROP TABLE planets" });
  await server.call("pg_execute", { statements: ["DELETE FROM planets"] });
  await server.close();
}
