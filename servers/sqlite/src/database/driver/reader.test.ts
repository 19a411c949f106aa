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
