import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, expect, it } from "vitest";
import { type Lab, lab } from "../../../test/lab.ts";
import { MAX_WATCHED } from "./databases.ts";

let here: Lab | undefined;
afterEach(() => here?.dispose());

it.each(["DELETE", "WAL"])(
  "reports commits of others in journal mode %s until it is stopped",
  async (mode) => {
    here = await lab();
    const writer = new Sqlite(here.file);
    writer.pragma(`journal_mode=${mode}`);
    let told = 0;
    const stop = await here.databases.watch.listen("main", () => (told += 1));
    try {
      for (const count of [1, 2]) {
        writer.exec("INSERT INTO users (name) VALUES ('Otto')");
        await expect.poll(() => told).toBe(count);
      }
    } finally {
      stop();
      writer.close();
    }
  },
);

it("refuses a missing database, every time and to everyone who asks at the same time", async () => {
  here = await lab();
  const { watch } = here.databases;
  for (const _ of [1, 2]) {
    const asked = [1, 2].map(() => watch.listen("mian", () => undefined));
    for (const result of await Promise.allSettled(asked))
      expect(result).toMatchObject({ status: "rejected", reason: { kind: "not_found" } });
  }
});

it("watches a limited number of databases until one is released", async () => {
  here = await lab();
  const { databases, file, folder } = here;
  const names = Array.from({ length: MAX_WATCHED + 1 }, (_, index) => `copy${index}.db`);
  for (const name of names) await copyFile(file, join(folder, name));
  const [last = "", ...most] = names;
  const stops = await Promise.all(
    most.map((name) => databases.watch.listen(name, () => undefined)),
  );
  await expect(databases.watch.listen(last, () => undefined)).rejects.toMatchObject({
    kind: "unavailable",
  });
  stops[0]?.();
  (await databases.watch.listen(last, () => undefined))();
  for (const stop of stops) stop();
});
