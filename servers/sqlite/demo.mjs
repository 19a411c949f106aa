import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const title =
  "builds a table from a CSV file that another server read, and answers questions.";

/** @param {import("../../scripts/lib/demo.mjs").Harness} harness */
export async function demo({ folder, say, connect }) {
  const cities = ["London,8.9", "Turin,0.84", '"Washington, D.C.",0.68', "Paris,2.1"];
  await writeFile(join(folder, "data.csv"), `city,millions\n${cities.join("\n")}\n`);

  say("The filesystem server reads data.csv; it knows nothing about databases.");
  const files = await connect("filesystem", { era: "legacy", args: [folder] });
  const answer = await files.call(
    "read_text_file",
    { path: "data.csv" },
    '"Washington, D.C.",0.68',
  );
  await files.close();
  /** @type {{ text?: string }[]} */
  const content = answer.content;
  const text = content.map((block) => block.text ?? "").join("");
  const rows = [...text.matchAll(/^(?:"([^"]*)"|([A-Z][^",\n]*)),([\d.]+)\r?$/gm)].map(
    ([, quoted, plain, millions]) => [quoted ?? plain, Number(millions)],
  );

  say("The host passes the rows to the SQLite server: a table, and all rows in one transaction.");
  const places = [
    "--db-path",
    join(folder, "cities.db"),
    "--undo-dir",
    join(folder, "undo"),
    "--root",
    folder,
  ];
  const args = [...places, "--allow-write", "--allow-ddl"];
  const sqlite = await connect("sqlite", {
    era: "modern",
    args,
    elicit: () => ({ action: "decline" }),
  });
  await sqlite.call(
    "execute",
    {
      statements: ["CREATE TABLE cities (city TEXT PRIMARY KEY, millions REAL NOT NULL)"],
    },
    { committed: true },
  );
  const statements = rows.map((params) => ({ sql: "INSERT INTO cities VALUES (?, ?)", params }));
  await sqlite.call(
    "execute",
    { statements },
    { committed: true, results: Array(4).fill({ command: "INSERT", row_count: 1 }) },
  );

  say("What would make a query faster, and is the file intact?");
  await sqlite.call(
    "explain",
    { sql: "SELECT city FROM cities WHERE millions > 1" },
    { full_scans: ["cities"], missing_indexes: [/CREATE INDEX .* ON "cities" \("millions"\)/] },
  );
  await sqlite.call("read_query", { sql: "PRAGMA quick_check" }, { rows: [["ok"]] });

  say("A query, then a misspelled table.");
  await sqlite.call(
    "read_query",
    {
      sql: "SELECT city, millions FROM cities WHERE millions > 1 ORDER BY millions DESC",
      format: "csv",
    },
    { row_count: 2, text: /London,8\.9\r?\nParis,2\.1/ },
  );
  await sqlite.call("read_query", { sql: "SELECT * FROM citys" }, { fails: /citys[\s\S]*cities/ });
  say("Every change of rows is recorded, and can be undone.");
  const emptied = await sqlite.call(
    "execute",
    { statements: ["DELETE FROM cities"] },
    { committed: true },
  );
  const change_id = emptied.structuredContent?.change_id;
  await sqlite.call("undo_database_change", { change_id }, { committed: true });
  say("A change that can't be undone shows the exact loss and asks the user, who declines.");
  await sqlite.call("execute", { statements: ["DROP TABLE cities"] }, { fails: /declined/ });
  await sqlite.call("read_query", { sql: "SELECT count(*) AS n FROM cities" }, { rows: [[4]] });
  await sqlite.close();
}
