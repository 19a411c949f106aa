import { expect, it } from "vitest";
import { labs } from "./asking.ts";

const enter = labs();
const SCHEMA = `
CREATE TABLE big (id INTEGER PRIMARY KEY, kind INT, at TEXT, "odd, name" INT, user_id INT REFERENCES users (id));
CREATE INDEX big_at ON big (at); CREATE INDEX big_at_kind ON big (at, id);`;

it("suggests an index for a foreign key, and dropping a redundant one", async () => {
  const { databases } = await enter({ sql: SCHEMA });
  const { signal } = new AbortController();
  expect(await (await databases.at()).suggestIndexes(100, { signal })).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ create: 'CREATE INDEX "big_user_id" ON "big" ("user_id")' }),
      expect.objectContaining({
        drop: 'DROP INDEX "big_at"',
        reason: "big_at_kind starts with the same columns.",
      }),
    ]),
  );
});
