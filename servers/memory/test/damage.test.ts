import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeBoundByPermissions } from "@refmcp/testing";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { someOf } from "../../../vitest.long.ts";
import { searchNodes } from "../src/graph/search/search.ts";
import { openSqliteStore } from "../src/graph/store/sqlite-store.ts";
import type { Store } from "../src/graph/store/store.ts";
import { startServer } from "./process.ts";
import { budget, create, entity, forget } from "./stores/help.ts";
import { temporary } from "./temporary.ts";

let folder = "";
let file = "";
beforeEach(async () => {
  folder = await temporary();
  file = join(folder, "memory.db");
});

/** Damage to the tables of the search index, as a failing disk or another program does it. */
const DAMAGE = {
  "all blocks": "DELETE FROM search_data",
  "its content": "DELETE FROM search_data WHERE id > 10",
  "random bytes": "UPDATE search_data SET block = randomblob(length(block)) WHERE id > 10",
  "its last block": "DELETE FROM search_data WHERE id = (SELECT max(id) FROM search_data)",
  "its structure": "DELETE FROM search_data WHERE id = 10",
  "its averages": "DELETE FROM search_data WHERE id = 1",
  "its directory": "DELETE FROM search_idx",
  "the sizes": "DELETE FROM search_docsize",
  "its version": "DELETE FROM search_config",
  "the table of sizes": "DROP TABLE search_docsize",
  "the table of blocks": "DROP TABLE search_data",
  everything: "DROP TABLE search",
};

function damage(sql: string): void {
  const db = new Sqlite(file);
  db.unsafeMode(true);
  db.exec(sql);
  db.close();
}

const facts = (index: number) => [
  `keeps record r${index}x of the society`,
  `writes about ${index} comets`,
];

let template = "";
beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), "refmcp-memory-filled-"));
  const store = await openSqliteStore(join(template, "memory.db"));
  await create(
    store,
    Array.from({ length: 1_500 }, (_, index) => entity(`Person ${index}`, "person", facts(index))),
  );
  await store.close();
});
afterAll(() => rm(template, { recursive: true, force: true }));

async function filled(): Promise<Store> {
  await cp(template, folder, { recursive: true });
  const store = await openSqliteStore(file);
  await forget(store, ["Person 7"]);
  return store;
}

async function expectWhole(store: Store): Promise<void> {
  const names = async (query: string) =>
    (await searchNodes(store, { query, limit: 20, budget })).entities.map(({ name }) => name);
  for (const index of [0, 700, 1_499])
    expect(await names(`record r${index}x`)).toEqual([`Person ${index}`]);
  expect(await names("r7x of")).not.toContain("Person 7");
  await create(store, [entity("Zora", "person", ["plays the theremin"])]);
  expect(await names("theremin")).toEqual(["Zora"]);
  expect((await store.read((reader) => reader.counts())).entities).toBe(1_500);
}

it.each(someOf(3, Object.entries(DAMAGE)))(
  "a search index that lost %s is rebuilt when the memory opens",
  async (_, sql) => {
    await (await filled()).close();
    damage(sql);
    const store = await openSqliteStore(file);
    expect(store.warning).toMatch(
      /^The search index of .* was damaged \(.+\) and has been rebuilt/,
    );
    await expectWhole(store);
    await store.close();
    const again = await openSqliteStore(file);
    expect(again.warning).toBeUndefined();
    await again.close();
  },
);

it.each(
  someOf(2, [
    "all blocks",
    "random bytes",
    "its version",
    "the table of sizes",
    "everything",
  ] as const),
)(
  "a search index that loses %s while the memory is open is rebuilt by the call that notices",
  async (what) => {
    for (const call of [
      (store: Store) => searchNodes(store, { query: "record r8x", limit: 20, budget }),
      (store: Store) => create(store, [entity("Person 3", "person", ["likes tea"])], "merge"),
    ]) {
      const store = await filled();
      damage(DAMAGE[what]);
      const failed = await call(store).then(
        () => undefined,
        (error: unknown) => error,
      );
      // Some damage concerns only some searches, or only writing.
      if (failed !== undefined)
        expect(failed).toMatchObject({
          kind: "unavailable",
          code: "index_damaged",
          message: expect.stringMatching(
            /was damaged \(.+\) and has been rebuilt\. This call changed nothing/,
          ),
          hint: "Repeat the call.",
        });
      else {
        await searchNodes(store, { query: "record r8x", limit: 20, budget }).catch(() => undefined);
        await create(store, [entity("Person 4", "person", ["likes milk"])], "merge").catch(
          () => undefined,
        );
      }
      await expectWhole(store);
      await store.close();
      await rm(file);
    }
  },
);

it("a damaged index is reported in the first answer and on stderr", async () => {
  await (await filled()).close();
  damage(DAMAGE["its content"]);
  const server = await startServer(["--file", file]);
  const { text } = await server.call("search_nodes", { query: "r700x" });
  expect(JSON.parse(text)).toMatchObject({
    notice: expect.stringMatching(/search index of .* was damaged .*rebuilt from the stored facts/),
    entities: [{ name: "Person 700" }],
  });
  expect(server.stderr()).toMatch(/warning: The search index of .* was damaged/);
  await server.stop();
});

it("a damaged index of a read-only file is reported, and the other tools work", async () => {
  await (await filled()).close();
  damage(DAMAGE["all blocks"]);
  await chmod(file, 0o444);
  await chmod(folder, 0o555);
  const server = await startServer(["--file", file], nodeBoundByPermissions());
  const opened = await server.call("open_nodes", { names: ["Person 3"] });
  expect(opened).toMatchObject({
    isError: false,
    text: expect.stringContaining("searches can miss entities"),
  });
  const { isError, text } = await server.call("search_nodes", { query: "comets" });
  expect(isError).toBe(true);
  expect(text).toMatch(/search index of .* is damaged .*read-only\.\nMake the file .*writable/);
  await chmod(folder, 0o755);
});

it("a file that another program has locked is named, and used once it is free", async () => {
  await (await filled()).close();
  const locking = `
    const db = new (require(${JSON.stringify(createRequire(import.meta.url).resolve("better-sqlite3"))}))(${JSON.stringify(file)});
    db.pragma("locking_mode = EXCLUSIVE");
    db.exec("BEGIN IMMEDIATE; UPDATE changes SET hard = hard; COMMIT");
    console.log("locked");
    process.stdin.resume();
  `;
  const other = spawn(process.execPath, ["-e", locking], { stdio: ["pipe", "pipe", "inherit"] });
  await once(other.stdout, "data");
  const server = await startServer(["--file", file]);
  const { isError, text } = await server.call("search_nodes", { query: "r700x" });
  expect(isError).toBe(true);
  expect(text).toMatch(/memory\.db is locked by another program\.\nClose the program/);
  expect(server.stderr()).toMatch(/warning: .*database is locked/);
  const closed = once(other, "close");
  other.stdin.end();
  other.kill();
  await closed;
  expect((await server.call("search_nodes", { query: "r700x" })).text).toContain("Person 700");
});
