import { createHash } from "node:crypto";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { World } from "@refmcp/testing";
import Sqlite from "better-sqlite3";

const NOTES = [
  "Ada brings the tea.",
  "Charles talks about engines.",
  "A machine that plays chess.",
  "Tea for everybody.",
  ...Array.from({ length: 3_000 }, (_, index) => `entry ${index + 1} of a long list`),
];

/** A database with a few notes and a long list. */
export async function world(): Promise<World & { readonly file: string }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "refmcp-sample-")));
  const file = join(folder, "notes.db");
  const database = new Sqlite(file);
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO notes (text) VALUES (?)");
  database.transaction(() => {
    for (const text of NOTES) insert.run(text);
  })();
  database.close();
  return {
    file,
    args: ["--db-path", file],
    calls: {
      sample_find: { query: "tea" },
    },
    failures: {
      sample_find: { query: "tea", cursor: "made up" },
    },
    large: {
      sample_find: { query: "entry", limit: 500 },
    },
    fingerprint: async () =>
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex"),
    stable: (text) => text.replaceAll(folder, "/world"),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}
