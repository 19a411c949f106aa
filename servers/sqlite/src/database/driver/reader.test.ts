import { copyFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, expect, it } from "vitest";
import { type Lab, lab } from "../../../test/lab.ts";
import { Reader } from "./reader.ts";

const open: { close(): void }[] = [];
let here: Lab | undefined;
afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  await here?.dispose();
});

async function enter() {
  const one = await lab();
  here = one;
  const kept = new Reader(Sqlite);
  const writer = new Sqlite(one.file);
  open.push(kept, writer);
  return { ...one, kept, writer };
}

const cities = "SELECT group_concat(city) FROM (SELECT city FROM users ORDER BY id)";

it("keeps the handle while nothing changes", async () => {
  const { kept, place } = await enter();
  expect(kept.open(place)).toBe(kept.open(place));
});

it.each(["DELETE", "WAL"])(
  "sees rows and schema changes of others, in journal mode %s",
  async (mode) => {
    const { kept, place, writer } = await enter();
    writer.pragma(`journal_mode=${mode}`);
    expect(kept.open(place).prepare(cities).pluck().get()).toBe("London,Edinburgh,London");
    writer.exec("UPDATE users SET city = 'Bath' WHERE id = 1");
    expect(kept.open(place).prepare(cities).pluck().get()).toBe("Bath,Edinburgh,London");
    writer.exec("ALTER TABLE users RENAME COLUMN city TO town; CREATE TABLE fresh (x)");
    expect(kept.open(place).prepare("SELECT town FROM users WHERE id = 1").pluck().get()).toBe(
      "Bath",
    );
    expect(kept.open(place).prepare("SELECT count(*) FROM fresh").pluck().get()).toBe(0n);
    writer.exec("DROP TABLE fresh");
    expect(() => kept.open(place).prepare("SELECT * FROM fresh")).toThrow(/no such table/);
  },
);

it("holds no lock between jobs", async () => {
  const { kept, place, writer } = await enter();
  kept.open(place).prepare(cities).all();
  writer.pragma("busy_timeout=0");
  writer.exec("BEGIN EXCLUSIVE; DELETE FROM orders; COMMIT");
  expect(kept.open(place).prepare("SELECT count(*) FROM orders").pluck().get()).toBe(0n);
});

it("reads a replacement of the file, and refuses one that did not pass the boundary", async () => {
  const { kept, place, folder, file, writer } = await enter();
  kept.open(place).prepare(cities).all();
  await copyFile(file, join(folder, "other.db"));
  const other = new Sqlite(join(folder, "other.db"));
  other.exec("UPDATE users SET city = 'Rome'");
  other.close();
  writer.close();
  await rename(join(folder, "other.db"), file);
  expect(() => kept.open(place)).toThrow("swapped");
  const { dev, ino } = await stat(file);
  const now = { ...place, device: dev, inode: ino };
  expect(kept.open(now).prepare(cities).pluck().get()).toBe("Rome,Rome,Rome");
});

it("can't write", async () => {
  const { kept, place } = await enter();
  kept.open(place);
  expect(() => kept.open(place).exec("DELETE FROM users")).toThrow(/readonly/);
});
