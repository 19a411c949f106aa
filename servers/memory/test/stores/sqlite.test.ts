import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { isLong } from "../../../../vitest.long.ts";
import { openSqliteStore } from "../../src/graph/store/sqlite-store.ts";
import type { Store } from "../../src/graph/store/store.ts";
import { deleteEntities, deleteObservations } from "../../src/graph/write/remove.ts";
import { updateEntities } from "../../src/graph/write/update.ts";
import { sqlite } from "../temporary.ts";
import { create, entity, erase, forgetFacts } from "./help.ts";
import { storeSuite } from "./suite.ts";

storeSuite("a graph in SQLite", (same) => sqlite(same?.location), isLong);

it("opens and reads a file during a long write by another process", async () => {
  const { location: file } = await sqlite();
  const other = new Sqlite(file);
  other.exec("BEGIN IMMEDIATE");
  const store = await sqlite(file);
  expect(await store.read((reader) => reader.changes(undefined, 1))).toEqual([]);
  other.close();
});

/** The words that occur anywhere in a memory's files. */
async function inFiles({ location }: Store, words: readonly string[]): Promise<string[]> {
  const folder = dirname(location);
  const files = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name))),
  );
  const text = Buffer.concat(files).toString("latin1").toLowerCase();
  return words.filter((word) => text.includes(word.toLowerCase()));
}

it("leaves no byte of erased data: text, index, old names, softly deleted facts", async () => {
  const store = await sqlite();
  const secrets = ["zqpinzq", "zqoldnamezq", "zqsofterzq", "zqkeptalivezq"];
  const filler = Array.from({ length: 400 }, (_, index) =>
    entity(`filler ${index}`, "t", [`fact ${index} zqkeptalivezq`]),
  );
  await create(store, filler);
  await create(store, [
    entity("zqoldnamezq", "t", ["the PIN is zqpinzq", "zqsofterzq as well", "stays"]),
  ]);
  await updateEntities(store, [{ name: "zqoldnamezq", new_name: "Renamed" }], { action: "rename" });
  await forgetFacts(store, "Renamed", ["zqsofterzq as well"]);
  await create(
    store,
    filler.map(({ name }) => entity(`${name} again`, "t", [`more of ${name}`])),
  );
  expect(await inFiles(store, secrets)).toEqual(secrets);
  const facts = {
    entityName: "Renamed",
    observations: ["the PIN is zqpinzq", "zqsofterzq as well"],
  };
  await erase((hard) => deleteObservations(store, [facts], hard));
  expect(await inFiles(store, secrets)).toEqual(["zqoldnamezq", "zqkeptalivezq"]);
  await erase((hard) => deleteEntities(store, ["Renamed"], hard));
  expect(await inFiles(store, secrets)).toEqual(["zqkeptalivezq"]);
  await store.close();
  expect(await inFiles(store, secrets)).toEqual(["zqkeptalivezq"]);
});

it("reports if another process still keeps erased data", async () => {
  const store = await sqlite();
  await create(store, [entity("A", "t", ["secret"])]);
  const other = new Sqlite(store.location, { readonly: true });
  other.exec("BEGIN");
  other.prepare("SELECT count(*) FROM entities").get();
  const { answer } = await erase((hard) => deleteEntities(store, ["A"], hard));
  expect(answer.message).toMatch(/^Erased 1 entity.*the old text stays in .*-wal until/);
  other.close();
});

it("erases even if old copies could not be overwritten, and reports it", async () => {
  const store = await sqlite();
  await create(store, [entity("A", "t", ["secret"])]);
  const broken: Store = {
    ...store,
    overwriteErased: () => Promise.reject(new Error("disk full")),
  };
  const { answer } = await erase((hard) => deleteEntities(broken, ["A"], hard));
  expect(answer.message).toMatch(/^Erased 1 entity.*could not be overwritten: disk full/);
  expect(await store.read((reader) => reader.counts())).toMatchObject({ entities: 0 });
});

it("refuses a file of another format and leaves it unchanged", async () => {
  const { location: file } = await sqlite();
  for (const [version, message] of [
    [1, /an early development version/],
    [99, /a newer version/],
  ] as const) {
    const db = new Sqlite(file);
    db.pragma(`user_version = ${version}`);
    db.close();
    await expect(openSqliteStore(file)).rejects.toMatchObject({
      message: expect.stringMatching(message),
    });
  }
});
