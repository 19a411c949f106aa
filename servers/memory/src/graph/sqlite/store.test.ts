import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import type { Store } from "../store.ts";
import { storeSuite } from "../suite/index.ts";
import { openSqliteStore } from "./store.ts";

storeSuite("a graph in SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-memory-"));
  let count = 0;
  return {
    fresh() {
      count += 1;
      return openSqliteStore(join(folder, `${count}.db`));
    },
    again: (store: Store) => openSqliteStore(store.location),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});

it("opens and reads a file in which another process writes for long", async () => {
  const folder = await mkdtemp(join(tmpdir(), "refmcp-memory-"));
  const file = join(folder, "memory.db");
  await (await openSqliteStore(file)).close();
  const other = new Sqlite(file);
  other.exec("BEGIN IMMEDIATE");
  const store = await openSqliteStore(file);
  expect(await store.read((reader) => reader.changes(undefined, 1))).toEqual([]);
  await store.close();
  other.close();
  await rm(folder, { recursive: true, force: true });
});
