import { join } from "node:path";
import Sqlite from "better-sqlite3";

export const title = "finds notes in a SQLite database.";

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ folder, say, connect }) {
  const file = join(folder, "notes.db");
  const database = new Sqlite(file);
  database.exec(
    "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'Ada brings the tea.')",
  );
  database.close();
  const session = await connect("sample", { era: "modern", args: ["--db-path", file] });

  say("A word of a note. What is asked for is a value, never SQL.");
  await session.call(
    "sample_find",
    { query: "TEA" },
    { notes: [{ id: "1", text: "Ada brings the tea." }] },
  );
  await session.call("sample_find", { query: "' OR 1 = 1 --" }, { notes: [] });
  await session.close();
}
