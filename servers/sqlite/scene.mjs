import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title = "makes a table of a CSV file that another server read, and is asked about it.";

/** @param {any} stage see scripts/lib/stage.mjs */
export async function scene({ folder, say, connect }) {
  const cities = ["London,8.9", "Turin,0.84", '"Washington, D.C.",0.68', "Paris,2.1"];
  await writeFile(join(folder, "data.csv"), `city,millions\n${cities.join("\n")}\n`);

  say("The filesystem server reads data.csv; it knows nothing of databases.");
  const files = await connect("filesystem", { era: "legacy", args: [folder] });
  const { content } = await files.call("read_text_file", { path: "data.csv" });
  await files.close();
  const text = content.map((block) => block.text ?? "").join("");
  const rows = [...text.matchAll(/^(?:"([^"]*)"|([A-Z][^",\n]*)),([\d.]+)\r?$/gm)].map(
    ([, quoted, plain, millions]) => [quoted ?? plain, Number(millions)],
  );

  say("The host takes the rows to the SQLite server: a table, and all rows in one transaction.");
  const args = ["--db-path", join(folder, "cities.db"), "--allow-write", "--allow-ddl", "--root", folder];
  const sqlite = await connect("sqlite", { era: "modern", args, elicit: () => ({ action: "decline" }) });
  await sqlite.call("create_table", {
    query: "CREATE TABLE cities (city TEXT PRIMARY KEY, millions REAL NOT NULL)",
  });
  const statements = rows.map((params) => ({ query: "INSERT INTO cities VALUES (?, ?)", params }));
  await sqlite.call("run_transaction", { statements });

  say("What would make it faster, and what takes the place in the file?");
  await sqlite.call("explain_query", { query: "SELECT city FROM cities WHERE millions > 1" });
  await sqlite.call("database_info", {});

  say("A question of them; then a mistake, and a change that would lose data: the user says no.");
  await sqlite.call("read_query", {
    query: "SELECT city, millions FROM cities WHERE millions > 1 ORDER BY millions DESC",
    format: "markdown",
  });
  await sqlite.call("read_query", { query: "SELECT * FROM citys" });
  await sqlite.call("write_query", { query: "DELETE FROM cities" });
  await sqlite.close();
}
