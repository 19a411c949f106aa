import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { create, entity } from "../../../test/stores/help.ts";
import { searchNodes } from "../search/search.ts";
import { openSqliteStore } from "../store/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { NearReader } from "./near.ts";

let folder = "";
let file = "";
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "refmcp-memory-near-"));
  file = join(folder, "memory.db");
  store = await openSqliteStore(file);
  await create(store, [entity("Ada", "person", ["likes tea"])]);
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const query = { query: "tea", limit: 10, cursor: undefined, budget: 20_000 };
const many = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => entity(`e${from + index}`));

it("answers like the thread, with everything that was committed before the call", async () => {
  const near = await NearReader.open(file);
  const [first, second] = await Promise.all([
    near?.run("searchNodes", [query]),
    near?.run("searchNodes", [query]),
  ]);
  expect(first).toBe(JSON.stringify(await searchNodes(store, query)));
  expect(second).toBe(first);
  await create(store, [entity("Bo", "person", ["drinks tea too"])]);
  expect(await near?.run("searchNodes", [query])).toBe(
    JSON.stringify(await searchNodes(store, query)),
  );
  await expect(near?.run("searchNodes", [{ ...query, cursor: "nonsense" }])).rejects.toMatchObject({
    kind: "invalid",
  });
  expect(
    await near?.run("deleteEntities", [["Ada"], { hard: false, action: "x" }]),
  ).toBeUndefined();
  near?.close();
  expect(await near?.run("searchNodes", [query])).toBeUndefined();
});

it("leaves a large memory, and a damaged one, to the thread", async () => {
  const near = await NearReader.open(file);
  await create(store, many(0, 1_900));
  expect(await near?.run("searchNodes", [query])).toContain("Ada");
  await create(store, many(1_900, 200));
  expect(await near?.run("searchNodes", [query])).toBeUndefined();
  near?.close();
  expect(await NearReader.open(file)).toBeUndefined();
  expect(await NearReader.open(join(folder, "missing.db"))).toBeUndefined();
  const small = join(folder, "small.db");
  await (await openSqliteStore(small)).close();
  const damaged = await NearReader.open(small);
  const db = new Sqlite(small);
  db.exec("DROP TABLE terms; DROP TABLE search");
  db.close();
  expect(await damaged?.run("searchNodes", [query])).toBeUndefined();
  damaged?.close();
});
